//! Softmax, its logarithm and their gradients against their definitions: every type and layout, on devices with f16 and without.

use crate::vectors;
use support::forms::{self, Forms};
use support::strided::{Lay, Placed, repeated};
use support::turn::Turn;
use support::values::{assert_ok, for_all_types, for_all_types_and_a_gpu, values};
use tilewise::ops::Softmax;
use tilewise::reference::{self, SoftmaxReference};
use tilewise::{DType, Gpu, Real, Tensor, ops};

/// Shapes, and an axis of each.
const CASES: [(&[usize], usize); 21] = [
    (&[1], 0),
    (&[7], 0),
    (&[300, 3], 1),
    (&[300, 3], 0),
    (&[5, 64], 1),
    (&[5, 64], 0),
    (&[3, 255], 1),
    (&[2, 1027], 1),
    (&[1027, 2], 0),
    (&[1, 5001], 1),
    (&[1, 12_345], 1),
    (&[67, 1], 1),
    (&[67, 1], 0),
    (&[2, 9, 32], 1),
    (&[4, 3, 8], 0),
    (&[5, 100, 7], 1),
    (&[2, 3, 2, 2, 3, 6], 5),
    (&[2, 3, 2, 2, 3, 6], 2),
    (&[2, 3, 2, 4, 3, 8], 0),
    (&[90, 64], 0),
    (&[2, 3, 9], 2),
];

/// Whether a case is computed of elements of this type: all are of f32, and every third of other types.
fn is_tested<T: Real>(case: usize) -> bool {
    T::DTYPE == DType::F32 || case % 3 == 1
}

fn dims(shape: &[usize], axis: usize) -> [usize; 3] {
    [&shape[..axis], &shape[axis..=axis], &shape[axis + 1..]].map(|extents| extents.iter().product())
}

/// One sweep, so that all of it shares kernels.
#[test]
fn softmax_and_its_gradients_agree_with_their_definitions() {
    forms::sweep(67, |turn, forms| {
        softmax_agrees_with_its_definition(turn, forms);
        rows_without_a_sum_are_nan(turn, forms);
        masks_broadcast_and_scores_are_scaled(turn, forms);
        gradients_agree_with_their_definition(turn, forms);
        vectors::aligned_rows_have_a_softmax(turn, forms);
    });
}

fn softmax_agrees_with_its_definition(turn: &Turn, forms: &mut Forms) {
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        for (case, (shape, axis)) in CASES.into_iter().enumerate().filter(|(case, _)| is_tested::<T>(*case)) {
            for (i, scale) in [1.0, 120.0, 30_000.0].into_iter().enumerate() {
                let x = values::<T>(shape, scale, 7);
                for lay in [Lay::ALL[(i + case) % 5], Lay::Vectors] {
                    let run = |gpu: &Gpu| {
                        let a = Placed::new(gpu, &x, shape, lay).tensor;
                        (ops::softmax(&a, axis).unwrap(), ops::log_softmax(&a, axis).unwrap())
                    };
                    if !forms.takes(gpu, (shape, axis), run) {
                        continue;
                    }
                    let want = SoftmaxReference::new(&x, dims(shape, axis));
                    let a = Placed::new(gpu, &x, shape, lay);
                    let before = gpu.stats().launches;
                    let c = ops::softmax(&a.tensor, axis).unwrap();
                    assert_eq!((gpu.stats().launches - before, c.shape()), (1, shape));
                    let got = c.to_vec().unwrap();
                    assert_ok(&want.softmax().compare(&got), (T::DTYPE, shape, axis, lay, scale));
                    let again = ops::softmax(&a.tensor, axis).unwrap().to_vec().unwrap();
                    assert_eq!(got, again, "same plan, same bits");
                    let before = gpu.stats().launches;
                    let logarithms = ops::log_softmax(&a.tensor, axis).unwrap();
                    assert_eq!(gpu.stats().launches - before, 1);
                    let got = logarithms.to_vec().unwrap();
                    let what = (T::DTYPE, shape, axis, lay, scale, "log");
                    let got: Vec<f32> = got.iter().map(|x| x.to_f64()).map(as_f32).collect();
                    assert_within_type::<T>(&want.log_softmax(), &got, what);
                }
            }
        }
        for shape in [[0, 3], [3, 0]] {
            let empty = gpu.empty::<T>(shape).unwrap();
            assert_eq!(ops::softmax(&empty, 1).unwrap().shape(), shape);
            assert_eq!(ops::log_softmax(&empty, 0).unwrap().shape(), shape);
            assert_eq!(ops::softmax_backward(&empty, &empty, 0).unwrap().shape(), shape);
        }
    }
    for_all_types_and_a_gpu!(turn, test, forms);
}

#[expect(clippy::cast_possible_truncation, reason = "it was an f32, or less")]
fn as_f32(x: f64) -> f32 {
    x as f32
}

/// Logarithms below -65504 are infinite in f16.
fn assert_within_type<T: Real>(want: &reference::Definition, got: &[f32], what: impl std::fmt::Debug) {
    let most = if T::DTYPE == DType::F16 { 65_000.0 } else { f64::INFINITY };
    let entries = want.value.iter().zip(&want.tolerance).zip(got);
    let entries = entries.filter(|((value, _), _)| value.abs() < most).map(|((&value, &tolerance), &got)| {
        let stored = reference::store_tolerance(value.abs() + tolerance, T::DTYPE);
        (f64::from(got), value, tolerance + stored)
    });
    assert_ok(&reference::compare(entries), what);
}

fn rows_without_a_sum_are_nan(turn: &Turn, forms: &mut Forms) {
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        let [inf, nan] = [f64::INFINITY, f64::NAN];
        let rows = [
            [0.0, -inf, 0.0, -inf],
            [1.0, nan, 2.0, 3.0],
            [1.0, inf, 2.0, 3.0],
            [-inf; 4],
            [60_000.0, -60_000.0, 60_000.0, 1.0],
        ];
        let data: Vec<T> = rows.as_flattened().iter().map(|&v| T::from_f64(v)).collect();
        let numbers = |t: Tensor<T>| -> Vec<f64> { t.to_vec().unwrap().iter().map(|v| v.to_f64()).collect() };
        for axis in [0, 1] {
            let run = |gpu: &Gpu| {
                let a = gpu.tensor(&data, [5, 4]).unwrap();
                if axis == 1 {
                    return (ops::softmax(&a, 1).unwrap(), ops::log_softmax(&a, 1).unwrap());
                }
                let a = a.t().contiguous().unwrap();
                (ops::softmax(&a, 0).unwrap().t(), ops::log_softmax(&a, 0).unwrap().t())
            };
            if !forms.takes(gpu, ("no sum", axis), run) {
                continue;
            }
            let (softmax, log) = run(gpu);
            let got = numbers(softmax.contiguous().unwrap());
            assert_eq!(got[..4], [0.5, 0.0, 0.5, 0.0], "{}", T::DTYPE);
            assert!(got[4..16].iter().all(|v| v.is_nan()), "{}: {got:?}", T::DTYPE);
            assert_eq!(got[16..], [0.5, 0.0, 0.5, 0.0], "{}", T::DTYPE);
            let got = numbers(log.contiguous().unwrap());
            assert!((got[0] + std::f64::consts::LN_2).abs() < 2e-3 && got[1] == -inf, "{got:?}");
            assert!(got[4..16].iter().all(|v| v.is_nan()), "{}: {got:?}", T::DTYPE);
        }
    }
    for_all_types!(turn, test, forms);
}

#[test]
fn distances_beyond_f32_are_infinite() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    let far = gpu.tensor(&[f32::MAX, f32::MIN, f32::MIN, f32::MIN], [2, 2]).unwrap();
    let got = ops::softmax(&far, 1).unwrap().to_vec().unwrap();
    assert_eq!(got, [1.0, 0.0, 0.5, 0.5], "distances beyond f32");
}

fn masks_broadcast_and_scores_are_scaled(turn: &Turn, forms: &mut Forms) {
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        let shapes: [(&[usize], &[usize], usize); 7] = [
            (&[4, 6, 8], &[6, 8], 2),
            (&[4, 6, 8], &[4, 1, 8], 2),
            (&[4, 6, 8], &[6, 1], 1),
            (&[4, 6, 8], &[], 1),
            (&[3, 5], &[3, 5], 0),
            (&[2, 1500], &[1500], 1),
            (&[2, 5000], &[1500 + 3500], 1),
        ];
        for (case, (shape, of_mask, axis)) in shapes.into_iter().enumerate() {
            let (x, mask) = (values::<T>(shape, 8.0, 1), values::<T>(of_mask, 2.0, 2));
            for lay in [0, 1, 2] {
                let run = |gpu: &Gpu| {
                    let lays =
                        [if lay == 0 { Lay::Vectors } else { Lay::ALL[lay] }, Lay::ALL[(lay + case) % 5]];
                    let a = Placed::new(gpu, &x, shape, lays[0]).tensor;
                    let m = Placed::new(gpu, &mask, of_mask, lays[1]).tensor;
                    let softmax = Softmax::new(&a, axis).mask(&m).scale(0.375);
                    (softmax.run().unwrap(), softmax.run_log().unwrap())
                };
                if !forms.takes(gpu, ("a mask", shape, of_mask, axis), run) {
                    continue;
                }
                let mut want = SoftmaxReference::new(&x, dims(shape, axis));
                want.scale = 0.375;
                want.mask = Some(repeated(&mask, of_mask, shape).iter().map(|x| x.to_f64()).collect());
                let before = gpu.stats().launches;
                let (found, log) = run(gpu);
                assert_eq!(gpu.stats().launches - before, 2);
                let what = (T::DTYPE, shape, of_mask, axis, lay);
                assert_ok(&want.softmax().compare(&found.to_vec().unwrap()), what);
                assert_ok(&want.log_softmax().compare(&log.to_vec().unwrap()), what);
            }
        }
        // Minus infinity, in some places of a row and in all.
        let mut mask = vec![0.0; 12];
        mask[1..3].fill(f64::NEG_INFINITY);
        mask[8..].fill(f64::NEG_INFINITY);
        let mask: Vec<T> = mask.into_iter().map(T::from_f64).collect();
        let run = |gpu: &Gpu| {
            let (x, mask) = (gpu.tensor(&[T::from_f64(3.0); 12], [3, 4]), gpu.tensor(&mask, [3, 4]));
            Softmax::new(&x.unwrap(), 1).mask(&mask.unwrap()).run().unwrap()
        };
        if !forms.takes(gpu, "a mask of minus infinity", run) {
            return;
        }
        let found: Vec<f64> = run(gpu).to_vec().unwrap().iter().map(|x| x.to_f64()).collect();
        assert_eq!(found[..8], [0.5, 0.0, 0.0, 0.5, 0.25, 0.25, 0.25, 0.25]);
        assert!(found[8..].iter().all(|x| x.is_nan()), "a row without an element");
    }
    for_all_types_and_a_gpu!(turn, test, forms);
}

fn gradients_agree_with_their_definition(turn: &Turn, forms: &mut Forms) {
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        for (case, (shape, axis)) in CASES.into_iter().enumerate().filter(|(case, _)| is_tested::<T>(*case)) {
            let dims = dims(shape, axis);
            let (x, g) = (values::<T>(shape, 3.0, 7), values::<T>(shape, 2.0, 8));
            let [y, log_y] = [reference::softmax(&x, dims), reference::log_softmax(&x, dims)]
                .map(|y| y.value.into_iter().map(T::from_f64).collect::<Vec<T>>());
            for lays in [[Lay::ALL[case % 5], Lay::ALL[(2 * case + 1) % 5]], [Lay::Vectors; 2]] {
                let run = |gpu: &Gpu| {
                    let gradient = Placed::new(gpu, &g, shape, lays[1]).tensor;
                    let of = |y: &[T]| Placed::new(gpu, y, shape, lays[0]).tensor;
                    let found = ops::softmax_backward(&of(&y), &gradient, axis).unwrap();
                    (found, ops::log_softmax_backward(&of(&log_y), &gradient, axis).unwrap())
                };
                if !forms.takes(gpu, ("gradients", shape, axis), run) {
                    continue;
                }
                let what = (T::DTYPE, shape, axis, lays);
                let before = gpu.stats().launches;
                let (found, log) = run(gpu);
                assert_eq!((gpu.stats().launches - before, found.shape()), (2, shape));
                let want = reference::softmax_backward(&y, &g, dims);
                assert_ok(&want.compare(&found.to_vec().unwrap()), what);
                let want = reference::log_softmax_backward(&log_y, &g, dims);
                assert_ok(&want.compare(&log.to_vec().unwrap()), (what, "log"));
            }
        }
    }
    for_all_types_and_a_gpu!(turn, test, forms);
}
