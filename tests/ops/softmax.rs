//! Softmax against its definition: every type and layout, on devices with f16 and without.

use crate::support;
use crate::support::strided::{Lay, Placed};
use crate::support::values::{assert_ok, for_all_types, values};
use tilewise::reference;
use tilewise::{Gpu, Real, ops};

#[test]
fn softmax_agrees_with_its_definition() {
    fn test<T: Real>(gpu: &Gpu) {
        let shapes: [&[usize]; 10] = [
            &[1],
            &[7],
            &[300, 3],
            &[5, 64],
            &[3, 255],
            &[2, 1027],
            &[1, 5001],
            &[67, 1],
            &[2, 3, 2, 2, 3, 6],
            &[2, 3, 9],
        ];
        for (case, shape) in shapes.into_iter().enumerate() {
            for (lay, scale) in [1.0, 8.0, 120.0, 30_000.0].into_iter().enumerate() {
                let lay = Lay::ALL[(lay + case) % 5];
                let x = values::<T>(shape, scale, 7);
                let a = Placed::new(gpu, &x, shape, lay);
                let before = gpu.stats().launches;
                let c = ops::softmax(&a.tensor).unwrap();
                assert_eq!((gpu.stats().launches - before, c.shape()), (1, shape));
                let got = c.to_vec().unwrap();
                let want = reference::softmax(&x, shape[shape.len() - 1]);
                assert_ok(&want.compare(&got), (T::DTYPE, shape, lay, scale));
                assert_eq!(got, ops::softmax(&a.tensor).unwrap().to_vec().unwrap(), "same plan, same bits");
            }
        }
        for shape in [[0, 3], [3, 0]] {
            assert_eq!(ops::softmax(&gpu.empty::<T>(shape).unwrap()).unwrap().shape(), shape);
        }
        let [inf, nan] = [f64::INFINITY, f64::NAN];
        let rows = [
            [0.0, -inf, 0.0, -inf],
            [1.0, nan, 2.0, 3.0],
            [1.0, inf, 2.0, 3.0],
            [-inf; 4],
            [60_000.0, -60_000.0, 60_000.0, 1.0],
        ];
        let data: Vec<T> = rows.as_flattened().iter().map(|&v| T::from_f64(v)).collect();
        let got = ops::softmax(&gpu.tensor(&data, [5, 4]).unwrap()).unwrap().to_vec().unwrap();
        let got: Vec<f64> = got.iter().map(|v| v.to_f64()).collect();
        assert_eq!(got[..4], [0.5, 0.0, 0.5, 0.0], "{}", T::DTYPE);
        assert!(got[4..16].iter().all(|v| v.is_nan()), "{}: {got:?}", T::DTYPE);
        assert_eq!(got[16..], [0.5, 0.0, 0.5, 0.0], "{}", T::DTYPE);
    }
    for_all_types!(test);
    let Some(gpu) = support::gpu() else { return };
    let far = [f32::MAX, f32::MIN, f32::MIN, f32::MIN];
    let got = ops::softmax(&gpu.tensor(&far, [2, 2]).unwrap()).unwrap().to_vec().unwrap();
    assert_eq!(got, [1.0, 0.0, 0.5, 0.5], "distances beyond f32");
}
