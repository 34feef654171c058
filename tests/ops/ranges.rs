//! Operations that square, sum squares, take powers or divide by a norm, over the whole range of each type. What is documented to
//! overflow becomes infinite, or 0 or NaN where it then divides; nothing becomes another finite number.

use support::values::for_all_types;
use tilewise::ops::{self, Activation, BatchNorm, GroupNorm, LayerNorm, Reduction, RmsNorm};
use tilewise::reference::{self, LossReference};
use tilewise::{DType, Gpu, Real, Tensor};

/// Sizes from the smallest subnormal number on.
const SIZES: [f64; 24] = [
    1.4e-45,
    1e-40,
    1.2e-38,
    1e-30,
    1e-24,
    1e-20,
    1e-15,
    5.97e-8,
    6.1e-5,
    1e-3,
    1.0,
    1.5,
    100.0,
    1e4,
    6.55e4,
    1e6,
    1e9,
    1e15,
    1e18,
    1e19,
    2e19,
    1e30,
    3.38e38,
    3.402_823_4e38,
];

/// The numbers of these sizes that a type has, with both signs.
fn numbers<T: Real>() -> Vec<T> {
    let all = SIZES.iter().flat_map(|&x| [T::from_f64(x), T::from_f64(-x)]);
    all.filter(|x| x.to_f64().is_finite() && x.to_f64() != 0.0).collect()
}

/// The largest number of a type.
fn largest(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 65_504.0,
        DType::Bf16 => f64::from_bits(0x47ef_e000_0000_0000),
        _ => f64::from(f32::MAX),
    }
}

/// Whether a result is a value, within a tolerance and the rounding of its type, or infinite where that is beyond its range.
fn is_right(dtype: DType, found: f64, value: f64, tolerance: f64) -> bool {
    let (least, unit) = match dtype {
        DType::F16 => (2f64.powi(-14), 2f64.powi(-10)),
        DType::Bf16 => (2f64.powi(-126), 2f64.powi(-7)),
        _ => (2f64.powi(-126), 2f64.powi(-23)),
    };
    let off = tolerance + unit * (value.abs() + tolerance) + least;
    let overflows = value.abs() + off > largest(dtype);
    found == value || (found - value).abs() <= off || (overflows && found == f64::INFINITY.copysign(value))
}

fn wide<T: Real>(of: &Tensor<T>) -> Vec<f64> {
    of.to_vec().unwrap().iter().map(|x| x.to_f64()).collect()
}

#[test]
fn squares_powers_and_activations_hold_over_the_whole_range() {
    fn test<T: Real>(gpu: &Gpu) {
        let x = numbers::<T>();
        let a = gpu.tensor(&x, [x.len()]).unwrap();
        let check = |what: &str, found: &Tensor<T>, want: &dyn Fn(f64) -> [f64; 2]| {
            for (x, found) in x.iter().zip(wide(found)) {
                let [value, tolerance] = want(x.to_f64());
                let is_right = is_right(T::DTYPE, found, value, tolerance);
                assert!(
                    is_right || (value.is_nan() && found.is_nan()),
                    "{what} of {x:?} ({}): {found:e}, not {value:e}",
                    T::DTYPE
                );
            }
        };
        check("square", &ops::square(&a).unwrap(), &|x| [x * x, 0.0]);
        for power in [2.0f32, 3.0, -1.0, -2.0, 0.5] {
            // A device may take subnormals for 0 in a product; powers take them as they are.
            check("pow", &ops::pow(&a, power).unwrap(), &|x| {
                let value = x.powf(f64::from(power));
                [value, 2f64.powi(-23) * value.abs()]
            });
        }
        let ones = gpu.tensor(&vec![T::from_f64(1.0); x.len()], [x.len()]).unwrap();
        for activation in Activation::ALL {
            check(&format!("{activation:?}"), &ops::activate(&a, activation).unwrap(), &|x| {
                [reference::activate(activation, x), reference::activation_tolerance(activation, x, 0.0)]
            });
            let slopes = ops::activate_backward(&a, &ones, activation).unwrap();
            check(&format!("the slope of {activation:?}"), &slopes, &|x| {
                [reference::activation_slope(activation, x), reference::slope_tolerance(activation, x)]
            });
        }
    }
    for_all_types!(test);
}

#[test]
fn sums_of_squares_norms_and_variances_overflow_as_documented() {
    fn test<T: Real>(gpu: &Gpu) {
        let sizes: Vec<T> = numbers::<T>().into_iter().filter(|x| x.to_f64() > 0.0).collect();
        for length in [5, 700] {
            let row = |size: &T| -> Vec<T> {
                (0..length)
                    .map(|i| T::from_f64(size.to_f64() * [1.0, -0.5, 0.0, -1.0, 0.25][i % 5]))
                    .collect()
            };
            let rows: Vec<T> = sizes.iter().flat_map(row).collect();
            let a = gpu.tensor(&rows, [sizes.len(), length]).unwrap();
            let [squares, norms, variances] = [ops::sum_squares(&a, 1), ops::norm(&a, 1), ops::var(&a, 1, 0)]
                .map(|found| wide(&found.unwrap()));
            for (i, row) in rows.chunks(length).enumerate() {
                let row: Vec<f64> = row.iter().map(|x| x.to_f64()).collect();
                let sum: f64 = row.iter().map(|x| x * x).sum();
                let mean = row.iter().sum::<f64>() / length as f64;
                let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / length as f64;
                // Sums that overflow in f32, and squares that are flushed.
                let overflows = sum > f64::from(f32::MAX);
                let flushed = length as f64 * 2f64.powi(-125);
                let what = (T::DTYPE, sizes[i], length);
                assert!(
                    is_right(T::DTYPE, squares[i], sum, 1e-4 * sum + flushed),
                    "{what:?}: {}",
                    squares[i]
                );
                let want = if overflows { f64::INFINITY } else { sum.sqrt() };
                let off = 1e-4 * sum.sqrt() + flushed.sqrt();
                assert!(is_right(T::DTYPE, norms[i], want, off), "{what:?}: {}", norms[i]);
                let spread = 4.0 * sum;
                let is_undefined = spread > f64::from(f32::MAX) && !variances[i].is_finite();
                let is_right = is_right(T::DTYPE, variances[i], variance, 1e-4 * variance + flushed);
                assert!(is_right || is_undefined, "{what:?}: {}", variances[i]);
            }
        }
    }
    for_all_types!(test);
}

/// What a norm and its gradient make of rows: the result, one over the deviation, and the gradient.
type Normed = [Vec<f64>; 3];

#[test]
fn norms_are_right_or_visibly_overflow_forwards_and_backwards() {
    fn test<T: Real>(gpu: &Gpu) {
        let sizes: Vec<T> = numbers::<T>().into_iter().filter(|x| x.to_f64() > 0.0).collect();
        for length in [8, 3000] {
            let pattern = [1.0, -0.5, 0.0, -1.0, 0.25, 0.75, -0.125, -0.375];
            let shape = [sizes.len(), length];
            let row = |size: &T| -> Vec<T> {
                (0..length).map(|i| T::from_f64(size.to_f64() * pattern[i % 8])).collect()
            };
            let rows: Vec<T> = sizes.iter().flat_map(row).collect();
            let x = gpu.tensor(&rows, shape).unwrap();
            let slopes: Vec<T> = (0..rows.len()).map(|i| T::from_f64(pattern[(3 * i + i / 8) % 8])).collect();
            let g = gpu.tensor(&slopes, shape).unwrap();
            let layer = LayerNorm::new().with_statistics(&x).unwrap();
            let of_layer = LayerNorm::new().backward(&x, &layer, &g).unwrap().0;
            let rms = RmsNorm::new().eps(1e-5).with_statistics(&x).unwrap();
            let of_rms = RmsNorm::new().backward(&x, &rms, &g).unwrap().0;
            // Batch norm of columns, and group norm of rows.
            let batch = BatchNorm::new().training(&x.t(), None).unwrap();
            let of_batch = BatchNorm::new().training_backward(&x.t(), &batch, &g.t()).unwrap().0;
            let planes = [sizes.len(), length / 4, 4];
            let (xp, gp) = (x.reshape(planes).unwrap(), g.reshape(planes).unwrap());
            let group = GroupNorm::new(1).with_statistics(&xp).unwrap();
            let of_group = GroupNorm::new(1).backward(&xp, &group, &gp).unwrap().0;
            let found: [(&str, bool, Normed); 4] = [
                ("layer", true, [wide(&layer.y), wide(&layer.rstd), wide(&of_layer)]),
                ("rms", false, [wide(&rms.y), wide(&rms.rstd), wide(&of_rms)]),
                ("batch", true, [wide(&batch.y.t()), wide(&batch.rstd), wide(&of_batch.t())]),
                ("group", true, [wide(&group.y), wide(&group.rstd), wide(&of_group)]),
            ];
            for (name, is_centred, [y, rstd, gradient]) in found {
                for (i, row) in rows.chunks(length).enumerate() {
                    let what = format!("{name} of {:?}, {length}, {}", sizes[i], T::DTYPE);
                    let at = i * length..(i + 1) * length;
                    let g: Vec<f64> = slopes[at.clone()].iter().map(|g| g.to_f64()).collect();
                    let row: Vec<f64> = row.iter().map(|x| x.to_f64()).collect();
                    check_row(
                        &what,
                        T::DTYPE,
                        is_centred,
                        &row,
                        &g,
                        [&y[at.clone()], &rstd[i..=i], &gradient[at]],
                    );
                }
            }
        }
    }
    for_all_types!(test);
}

fn check_row(
    what: &str,
    dtype: DType,
    is_centred: bool,
    row: &[f64],
    g: &[f64],
    [y, rstd, gradient]: [&[f64]; 3],
) {
    let average = |of: &dyn Fn(usize) -> f64| (0..row.len()).map(of).sum::<f64>() / row.len() as f64;
    let mean = if is_centred { average(&|i| row[i]) } else { 0.0 };
    let square = average(&|i| (row[i] - mean).powi(2));
    let want = 1.0 / (square + f64::from(1e-5f32)).sqrt();
    let farthest = row.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    // The distance of two elements, its square, and the sum of squares.
    if 4.0 * farthest * farthest * row.len() as f64 > f64::from(f32::MAX) {
        let is_seen = |of: &[f64]| of.iter().all(|x| *x == 0.0 || x.is_nan());
        let is_close = (rstd[0] / want - 1.0).abs() < 1e-4;
        assert!(
            is_close || (is_seen(y) && is_seen(gradient)),
            "{what}: {} {} {}",
            rstd[0],
            y[0],
            gradient[0]
        );
        return;
    }
    assert!((rstd[0] / want - 1.0).abs() < 1e-4, "{what}: rstd {}, not {want}", rstd[0]);
    let normed = |i: usize| (row[i] - mean) * want;
    let shift = if is_centred { average(&|i| g[i]) } else { 0.0 };
    let slope = average(&|i| g[i] * normed(i));
    for i in 0..row.len() {
        assert!(is_right(dtype, y[i], normed(i), 1e-4), "{what}: {}, not {}", y[i], normed(i));
        let value = want * (g[i] - shift - normed(i) * slope);
        assert!(
            is_right(dtype, gradient[i], value, 1e-3 * want),
            "{what}: gradient {}, not {value}",
            gradient[i]
        );
    }
}

#[test]
fn losses_are_right_or_infinite() {
    fn test<T: Real>(gpu: &Gpu) {
        // A device may take differences below 2^-126 for 0, where the slope of |x| jumps.
        let x: Vec<T> = numbers::<T>().into_iter().filter(|x| x.to_f64().abs() > 2e-38).collect();
        let n = x.len();
        let target: Vec<T> = (0..n).map(|i| x[(i * 7 + 3) % n]).collect();
        let shares = vec![T::from_f64(0.25); n];
        let [a, t, share] = [&x, &target, &shares].map(|of| gpu.tensor(of, [n]).unwrap());
        let none = Reduction::None;
        let found = [
            (LossReference::Mse, &target, ops::mse_and_gradient(&a, &t, none, 1.0)),
            (LossReference::L1, &target, ops::l1_and_gradient(&a, &t, none, 1.0)),
            (LossReference::Huber { delta: 2.0 }, &target, ops::huber_and_gradient(&a, &t, 2.0, none, 1.0)),
            (
                LossReference::BceWithLogits,
                &shares,
                ops::bce_with_logits_and_gradient(&a, &share, None, none, 1.0),
            ),
        ];
        for (loss, target, found) in found {
            let (losses, gradients) = found.unwrap();
            let want = loss.run([&x[..], &target[..]], &[1.0], &[1.0], none);
            let (losses, gradients) = (wide(&losses), wide(&gradients));
            for i in 0..n {
                let what = format!("{loss:?} of {:?} and {:?}", x[i], target[i]);
                let (value, off) = (want.loss.value[i], want.loss.tolerance[i]);
                assert!(is_right(DType::F32, losses[i], value, off), "{what}: {}, not {value}", losses[i]);
                let (value, off) = (want.gradient.value[i], want.gradient.tolerance[i]);
                assert!(
                    is_right(T::DTYPE, gradients[i], value, off),
                    "{what}: {}, not {value}",
                    gradients[i]
                );
            }
        }
    }
    for_all_types!(test);
}
