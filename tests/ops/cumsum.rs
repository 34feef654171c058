//! Cumulative sums against their definition: every type and layout, on devices with f16 and without.

use support::failure::{Kind, fails};
use support::forms::{self, Forms};
use support::strided::{Lay, Placed};
use support::values::{assert_ok, for_all_types_and_a_gpu, values};
use tilewise::{Gpu, Real, ops, reference};

#[test]
fn cumulative_sums_agree_with_their_definition() {
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        let cases: [(&[usize], usize); 18] = [
            (&[1], 0),
            (&[7], 0),
            (&[70_001], 0),
            (&[300, 3], 1),
            (&[300, 3], 0),
            (&[5, 64], 1),
            (&[5, 64], 0),
            (&[3, 255], 1),
            (&[2, 1027], 1),
            (&[1027, 2], 0),
            (&[3, 4097], 1),
            (&[2, 66_000], 1),
            (&[20_000, 5], 0),
            (&[2, 9, 32], 1),
            (&[5, 100, 7], 1),
            (&[2, 3, 2, 2, 3, 6], 5),
            (&[2, 3, 2, 2, 3, 6], 2),
            (&[2, 3, 2, 4, 3, 8], 0),
        ];
        for (case, (shape, axis)) in cases.into_iter().enumerate() {
            let x = values::<T>(shape, 2.0, 7);
            let dims = [&shape[..axis], &shape[axis..=axis], &shape[axis + 1..]];
            for lay in [Lay::Plain, Lay::ALL[case % 5], Lay::Vectors] {
                let run = |gpu: &Gpu| ops::cumsum(&Placed::new(gpu, &x, shape, lay).tensor, axis).unwrap();
                if !forms.takes(gpu, (shape, axis), run) {
                    continue;
                }
                let want = reference::cumsum(&x, dims.map(|extents| extents.iter().product()));
                let a = Placed::new(gpu, &x, shape, lay);
                let before = gpu.stats().launches;
                let c = ops::cumsum(&a.tensor, axis).unwrap();
                let launches = gpu.stats().launches - before;
                assert!(launches == 1 || (launches == 3 && shape[axis] > 4000), "{shape:?}: {launches}");
                assert_eq!(c.shape(), shape);
                let got = c.to_vec().unwrap();
                assert_ok(&want.compare(&got), (T::DTYPE, shape, axis, lay));
                assert_eq!(
                    got,
                    ops::cumsum(&a.tensor, axis).unwrap().to_vec().unwrap(),
                    "same plan, same bits"
                );
            }
        }
        let empty = gpu.empty::<T>([3, 0]).unwrap();
        assert_eq!(ops::cumsum(&empty, 1).unwrap().shape(), [3, 0]);
    }
    forms::sweep(25, |turn, forms| for_all_types_and_a_gpu!(turn, test, forms));
}

#[test]
fn a_nan_reaches_later_sums_and_mistakes_are_errors() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    let x = gpu.tensor(&[1.0, f32::NAN, 2.0, 3.0, 4.0, 5.0], [2, 3]).unwrap();
    let found = ops::cumsum(&x, 1).unwrap().to_vec().unwrap();
    assert!(found[0] == 1.0 && found[1].is_nan() && found[2].is_nan());
    assert_eq!(found[3..], [3.0, 7.0, 12.0]);
    fails(ops::cumsum(&x, 2), Kind::Shape, &["^cumsum: ", "[2, 3] and [2]"]);
}
