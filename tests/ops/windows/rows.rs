//! Operations along an axis, norms and losses.

use super::{Pair, place};
use crate::support::strided::Lay;
use crate::support::values::values;
use tilewise::ops::{
    self, BatchNorm, CrossEntropy, GroupNorm, LayerNorm, Reduction, RmsNorm, RunningStatistics,
};
use tilewise::{DType, Error, Fill, Real, Tensor, bf16, f16};

#[test]
fn along_an_axis() {
    fn of_type<T: Real>(pair: &Pair) {
        let shape = [7, 30, 203];
        let (x, g) = (values::<T>(&shape, 4.0, 1), values::<T>(&shape, 1.0, 2));
        let mask = values::<T>(&[30, 1], 3.0, 3);
        // Their sums are exact.
        let whole = Fill::Integers.values::<T>(shape.iter().product(), 4);
        let off = if T::DTYPE == DType::F32 { 1e-5 } else { 2e-2 };
        for lay in [Lay::Reversed, Lay::Odd] {
            for axis in 0..3 {
                let what = format!("{lay:?} {axis} {}", T::DTYPE);
                pair.close(&format!("softmax {what}"), off, |gpu| {
                    ops::softmax(&place(gpu, &x, &shape, lay), axis)
                });
                pair.close(&format!("masked {what}"), off, |gpu| {
                    let mask = place(gpu, &mask, &[30, 1], lay);
                    ops::Softmax::new(&place(gpu, &x, &shape, lay), axis).mask(&mask).scale(0.5).run_log()
                });
                pair.close(&format!("backward {what}"), off, |gpu| {
                    let (y, g) = (place(gpu, &x, &shape, Lay::Plain), place(gpu, &g, &shape, lay));
                    ops::softmax_backward(&y, &g, axis)
                });
                pair.same(&format!("cumsum {what}"), |gpu| {
                    ops::cumsum(&place(gpu, &whole, &shape, lay), axis)
                });
            }
        }
    }
    let Some(pair) = Pair::open() else { return };
    of_type::<f32>(&pair);
    of_type::<f16>(&pair);
    of_type::<bf16>(&pair);
    // A line alone exceeds a binding.
    let x = pair.small.zeros::<f32>([3, 20_001]).unwrap();
    let error = ops::softmax(&x, 1).expect_err("there is no such window");
    assert!(matches!(error, Error::Limit { needed: 80_004, .. }), "{error}");
    assert!(error.to_string().contains("slice along axis 1"), "{error}");
    assert_eq!(ops::add(&x, 1.0).unwrap().to_vec().unwrap(), vec![1.0; 60_003], "the operand is usable");
}

#[test]
fn norms_of_rows() {
    fn of_type<T: Real>(pair: &Pair) {
        let shape = [9, 31, 203];
        let (x, g) = (values::<T>(&shape, 4.0, 1), values::<T>(&shape, 1.0, 2));
        let row = values::<T>(&[203], 1.0, 3);
        let off = if T::DTYPE == DType::F32 { 1e-4 } else { 5e-2 };
        for lay in [Lay::Plain, Lay::Odd] {
            let what = format!("{lay:?} {}", T::DTYPE);
            pair.close(&format!("layer_norm {what}"), off, |gpu| {
                let row = place(gpu, &row, &[203], lay);
                let norm = LayerNorm { gamma: Some(&row), beta: Some(&row), ..LayerNorm::default() };
                ops::layer_norm(&place(gpu, &x, &shape, lay), norm)
            });
            for part in 0..5 {
                pair.close(&format!("layer_norm, backward {part} {what}"), off, |gpu| {
                    let row = place(gpu, &row, &[203], lay);
                    let norm = LayerNorm { gamma: Some(&row), beta: Some(&row), ..LayerNorm::default() };
                    let (x, g) = (place(gpu, &x, &shape, lay), place(gpu, &g, &shape, lay));
                    let (total, normed) = ops::layer_norm_residual(&x, &g, norm)?;
                    let found = ops::layer_norm_backward(&total, &normed, norm, &g)?;
                    match part {
                        0 => normed.mean.cast(),
                        1 => normed.rstd.cast(),
                        2 => Ok(found.x),
                        3 => found.gamma.expect("there is a gamma").cast(),
                        _ => found.beta.expect("there is a beta").cast(),
                    }
                });
            }
            pair.close(&format!("rms_norm {what}"), off, |gpu| {
                ops::rms_norm(&place(gpu, &x, &shape, lay), RmsNorm::default())
            });
        }
    }
    let Some(pair) = Pair::open() else { return };
    of_type::<f32>(&pair);
    of_type::<f16>(&pair);
    of_type::<bf16>(&pair);
}

#[test]
fn norms_of_channels() {
    let Some(pair) = Pair::open() else { return };
    let shape = [61, 23, 24];
    let (x, g) = (values::<f32>(&shape, 4.0, 1), values::<f32>(&shape, 1.0, 2));
    let row = values::<f32>(&[24], 1.0, 3);
    for lay in [Lay::Plain, Lay::Odd] {
        for part in 0..5 {
            pair.close(&format!("group_norm {part} {lay:?}"), 1e-4, |gpu| {
                let row = place(gpu, &row, &[24], lay);
                let norm = GroupNorm { gamma: Some(&row), beta: Some(&row), ..GroupNorm::new(4) };
                let (x, g) = (place(gpu, &x, &shape, lay), place(gpu, &g, &shape, lay));
                let normed = ops::group_norm_with_statistics(&x, norm)?;
                let found = ops::group_norm_backward(&x, &normed, norm, &g)?;
                match part {
                    0 => Ok(normed.y),
                    1 => normed.rstd.contiguous(),
                    2 => Ok(found.x),
                    3 => found.gamma.expect("there is a gamma").contiguous(),
                    _ => found.beta.expect("there is a beta").contiguous(),
                }
            });
        }
        for part in 0..3 {
            pair.close(&format!("batch_norm {part} {lay:?}"), 1e-4, |gpu| {
                let row = place(gpu, &row, &[24], lay);
                let variance = ops::square(&row)?;
                let running = RunningStatistics { mean: row.clone(), variance };
                let norm = BatchNorm { gamma: Some(&row), beta: Some(&row), ..BatchNorm::default() };
                let (x, g) = (place(gpu, &x, &shape, lay), place(gpu, &g, &shape, lay));
                if part == 0 {
                    return ops::batch_norm(&x, &running, norm);
                }
                let found = ops::batch_norm_backward(&x, &running, norm, &g)?;
                if part == 1 { Ok(found.x) } else { found.gamma.expect("there is a gamma").contiguous() }
            });
        }
    }
}

#[test]
fn losses() {
    fn of_type<T: Real>(pair: &Pair) {
        let shape = [9, 31, 203];
        let (x, y) = (values::<T>(&shape, 4.0, 1), values::<T>(&shape, 1.0, 2));
        let rows = values::<f32>(&[9, 31], 1.0, 3);
        let classes: Vec<i32> = (0..279).map(|i| i * 37 % 203).collect();
        let weights: Vec<f32> = (0..203_u16).map(|i| f32::from(i) / 100.0).collect();
        let off = if T::DTYPE == DType::F32 { 1e-4 } else { 2e-2 };
        for lay in [Lay::Plain, Lay::Odd] {
            for reduction in [Reduction::None, Reduction::Mean, Reduction::Sum] {
                for part in [0, 1] {
                    let what = format!("{part} {reduction:?} {lay:?} {}", T::DTYPE);
                    pair.close(&format!("mse {what}"), off, |gpu| {
                        let (x, y) = (place(gpu, &x, &shape, lay), place(gpu, &y, &shape, Lay::Reversed));
                        let g: Tensor<f32> =
                            if reduction == Reduction::None { x.cast()? } else { gpu.tensor(&[0.5f32], [])? };
                        let (loss, gradient) = ops::mse_and_gradient(&x, &y, reduction, &g)?;
                        if part == 0 { Ok(loss) } else { gradient.cast() }
                    });
                    for ignored in [None, Some(37)] {
                        pair.close(&format!("cross-entropy {what} {ignored:?}"), off, |gpu| {
                            let x = place(gpu, &x, &shape, lay);
                            let classes = place(gpu, &classes, &[9, 31], lay);
                            let weights = gpu.tensor(&weights, [203])?;
                            let entropy = CrossEntropy::new().label_smoothing(0.1).reduction(reduction);
                            let entropy = match ignored {
                                Some(class) => entropy.ignore_index(class).class_weights(&weights),
                                None => entropy,
                            };
                            let g = match reduction {
                                Reduction::None => gpu.tensor(&rows, [9, 31])?,
                                Reduction::Mean | Reduction::Sum => gpu.tensor(&[0.5f32], [])?,
                            };
                            let (loss, gradient) = entropy.run_with_gradient(&x, &classes, &g)?;
                            match part {
                                0 => Ok(loss.loss),
                                _ => gradient.cast(),
                            }
                        });
                    }
                }
            }
        }
        pair.close("probabilities", off, |gpu| {
            let (x, y) = (place(gpu, &x, &shape, Lay::Odd), place(gpu, &y, &shape, Lay::Reversed));
            Ok(CrossEntropy::new()
                .reduction(Reduction::None)
                .run(&x, ops::Targets::Probabilities(&y))?
                .log_sums)
        });
    }
    let Some(pair) = Pair::open() else { return };
    of_type::<f32>(&pair);
    of_type::<f16>(&pair);
}
