//! Interpolation to any size.

use super::{assert_same, lays, one_launch, place};
use support::forms::{self, Forms};
use support::values::{assert_ok, for_all_types_and_a_gpu, values};
use tilewise::ops::{Corners, Interpolation, interpolate, interpolate_backward};
use tilewise::{Gpu, Real, reference};

const CASES: [([usize; 4], [usize; 2]); 9] = [
    ([2, 4, 5, 8], [8, 10]),
    ([1, 7, 6, 4], [3, 5]),
    ([1, 5, 9, 3], [5, 9]),
    ([2, 1, 3, 5], [4, 1]),
    ([1, 2, 2, 16], [9, 7]),
    ([3, 13, 1, 1], [1, 6]),
    ([1, 10, 12, 6], [30, 4]),
    ([1, 9, 31, 2], [2, 3]),
    ([1, 3, 3, 12], [1, 1]),
];

#[test]
fn images_of_other_sizes_are_as_defined() {
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        for (case, (shape, size)) in CASES.into_iter().enumerate() {
            for (at, by) in Interpolation::ALL.into_iter().enumerate() {
                let resized = [shape[0], size[0], size[1], shape[3]];
                let (x, g) = (values::<T>(&shape, 4.0, case as u64), values::<T>(&resized, 2.0, 7));
                let want = reference::interpolate(&x, shape, size, by);
                let gradient = reference::interpolate_backward(&g, shape, size, by);
                for lay in lays(case + at) {
                    let what = (T::DTYPE, shape, size, by, lay);
                    let run = |gpu: &Gpu| interpolate(&place(gpu, &x, &shape, lay), size, by).unwrap();
                    if forms.takes(gpu, (case, at, 0), run) {
                        let x = place(gpu, &x, &shape, lay);
                        let found = one_launch(gpu, || interpolate(&x, size, by));
                        assert_eq!(found.shape(), resized);
                        assert_ok(&want.compare(&found.to_vec().unwrap()), what);
                    }
                    let backward = |gpu: &Gpu| {
                        let g = place(gpu, &g, &resized, lay);
                        interpolate_backward(&g, [shape[1], shape[2]], by).unwrap()
                    };
                    if forms.takes(gpu, (case, at, 1), backward) {
                        let found = backward(gpu);
                        assert_eq!(found.shape(), shape);
                        assert_ok(&gradient.compare(&found.to_vec().unwrap()), what);
                    }
                }
            }
        }
    }
    forms::sweep(24, |turn, forms| for_all_types_and_a_gpu!(turn, test, forms));
}

#[test]
fn the_same_size_is_the_same_image_and_long_axes_are_exact() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    // Pixels of weight 0 are not used, even if they are NaN.
    let x: Vec<f32> = (0..60).map(|i| if i % 7 == 3 { f32::NAN } else { i as f32 }).collect();
    let image = gpu.tensor(&x, [1, 5, 4, 3]).unwrap();
    for by in Interpolation::ALL {
        assert_same(&interpolate(&image, [5, 4], by).unwrap().to_vec().unwrap(), &x, by);
        assert_same(&interpolate_backward(&image, [5, 4], by).unwrap().to_vec().unwrap(), &x, by);
        let empty = gpu.empty::<f32>([0, 5, 4, 3]).unwrap();
        assert_eq!(interpolate(&empty, [2, 9], by).unwrap().shape(), [0, 2, 9, 3]);
        assert_eq!(interpolate_backward(&empty, [2, 9], by).unwrap().shape(), [0, 2, 9, 3]);
    }
    // In f32, a third of such a position would be another element.
    let (long, short) = (300_000, 100_000);
    let x = gpu.arange(0, 300_000, 1).unwrap().cast::<f32>().unwrap().reshape([1, 1, long, 1]).unwrap();
    let found = interpolate(&x, [1, short], Interpolation::Nearest).unwrap().to_vec().unwrap();
    assert!(found.iter().enumerate().all(|(at, &x)| x == (3 * at) as f32));
    let found = interpolate(&x, [1, short], Interpolation::Bilinear(Corners::HalfPixel)).unwrap();
    assert!(found.to_vec().unwrap().iter().enumerate().all(|(at, &x)| x == (3 * at + 1) as f32));
}
