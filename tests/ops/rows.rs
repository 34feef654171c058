//! Operations along rows, sums, magnitudes and softmax, against their definitions: every type and layout, on devices with
//! f16 and without.

use crate::support;
use crate::support::strided::{Lay, Placed};
use crate::support::values::{assert_ok, for_all_types, values};
use tilewise::reference::{self, Definition};
use tilewise::{Gpu, Real, Tensor, ops};

#[test]
fn sums_and_magnitudes_along_every_axis_agree_with_their_definition() {
    type Reduced<T> =
        (fn(&Tensor<T>, usize) -> tilewise::Result<Tensor<T>>, fn(&[T], [usize; 3]) -> Definition);
    fn test<T: Real>(gpu: &Gpu) {
        let shapes: [&[usize]; 12] = [
            &[1],
            &[5],
            &[3000],
            &[3, 5],
            &[65, 33],
            &[7, 1],
            &[2, 1500],
            &[9, 4100],
            &[2, 3, 4, 5, 2, 3],
            &[4, 7, 0],
            &[0, 2],
            &[2, 0, 0],
        ];
        for (case, shape) in shapes.into_iter().enumerate() {
            let x = values::<T>(shape, 1.0, 6);
            for axis in 0..shape.len() {
                let dims =
                    [&shape[..axis], &shape[axis..=axis], &shape[axis + 1..]].map(|s| s.iter().product());
                let functions: [Reduced<T>; 3] = [
                    (ops::sum, reference::sum),
                    (ops::sum_squares, reference::sum_squares),
                    (ops::max_abs, reference::max_abs),
                ];
                for (i, (function, defined)) in functions.into_iter().enumerate() {
                    let want = defined(&x, dims);
                    for lay in 0..3 {
                        let lay = Lay::ALL[(lay + case + axis) % 5];
                        let a = Placed::new(gpu, &x, shape, lay);
                        let reduced = function(&a.tensor, axis).unwrap();
                        assert_eq!(reduced.shape(), [&shape[..axis], &shape[axis + 1..]].concat());
                        let got = reduced.to_vec().unwrap();
                        assert_ok(&want.compare(&got), (i, T::DTYPE, shape, axis, lay));
                        let again = function(&a.tensor, axis).unwrap().to_vec().unwrap();
                        assert_eq!(got, again, "same plan, same bits");
                        let exact = got.iter().zip(&want.value).all(|(got, want)| got.to_f64() == *want);
                        assert!(i != 2 || exact, "magnitudes are exact: {:?}", (T::DTYPE, shape, axis, lay));
                    }
                }
            }
        }
        let ones = gpu.tensor(&[T::from_f64(1.0)], [1]).unwrap().as_strided(&[200, 3], &[0, 0], 0).unwrap();
        assert_eq!(ops::sum(&ones, 0).unwrap().to_vec().unwrap(), [T::from_f64(200.0); 3]);
    }
    for_all_types!(test);
}

#[test]
fn magnitudes_show_nan_and_infinity_and_every_bit_of_an_f32() {
    fn test<T: Real>(gpu: &Gpu) {
        let [inf, nan] = [f64::INFINITY, f64::NAN];
        for (i, special) in [inf, -inf, nan, -nan].into_iter().enumerate() {
            let mut data = vec![T::from_f64(-1.5); 300];
            data[37] = T::from_f64(special);
            data[38] = T::from_f64(if i == 2 { inf } else { 1.0 });
            let a = gpu.tensor(&data, [3, 100]).unwrap();
            let got: Vec<f64> =
                ops::max_abs(&a, 1).unwrap().to_vec().unwrap().iter().map(|x| x.to_f64()).collect();
            assert!(if special.is_nan() { got[0].is_nan() } else { got[0] == inf }, "{}: {got:?}", T::DTYPE);
            assert_eq!(got[1..], [1.5; 2], "{}", T::DTYPE);
        }
    }
    for_all_types!(test);
    let Some(gpu) = support::gpu() else { return };
    let data =
        [0.0, -f32::from_bits(1), f32::from_bits(1), f32::MIN, f32::MAX.next_down(), -f32::MIN_POSITIVE];
    let got = ops::max_abs(&gpu.tensor(&data, [3, 2]).unwrap(), 1).unwrap().to_vec().unwrap();
    assert_eq!(got, [f32::from_bits(1), f32::MAX, f32::MAX.next_down()]);
}

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

#[test]
fn grids_beyond_one_axis_reach_every_row() {
    let Some(gpu) = support::gpu() else { return };
    let rows = 65_535 + 7;
    let row = gpu.tensor(&[1.0f32; 515], [515]).unwrap().as_strided(&[rows, 515], &[0, 1], 0).unwrap();
    assert_eq!(ops::sum(&row, 1).unwrap().to_vec().unwrap(), vec![515.0; rows]);
}
