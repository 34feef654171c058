//! Operations along an axis, norms and losses.

use super::{Pair, joined, place, sweep};
use support::failure::says;
use support::strided::Lay;
use support::values::values;
use tilewise::ops::{
    self, BatchNorm, CrossEntropy, GroupNorm, InstanceNorm, LayerNorm, Reduction, RmsNorm, RunningStatistics,
};
use tilewise::{DType, Error, Fill, Gpu, Gradients, Real, Tensor, bf16, f16};

#[test]
fn along_an_axis() {
    fn of_type<T: Real>(pair: &Pair, [function, axis, lay]: [usize; 3]) {
        let shape = [7, 30, 203];
        let (x, g) = (values::<T>(&shape, 4.0, 1), values::<T>(&shape, 1.0, 2));
        let mask = values::<T>(&[30, 1], 3.0, 3);
        let off = if T::DTYPE == DType::F32 { 1e-5 } else { 2e-2 };
        let lay = [Lay::Reversed, Lay::Odd][lay];
        let what = format!("{lay:?} {axis} {}", T::DTYPE);
        match function {
            0 => pair.close(&format!("softmax {what}"), off, |gpu| {
                ops::softmax(&place(gpu, &x, &shape, lay), axis)
            }),
            1 => pair.close(&format!("masked {what}"), off, |gpu| {
                let mask = place(gpu, &mask, &[30, 1], lay);
                ops::Softmax::new(&place(gpu, &x, &shape, lay), axis).mask(&mask).scale(0.5).run_log()
            }),
            2 => pair.close(&format!("backward {what}"), off, |gpu| {
                let (y, g) = (place(gpu, &x, &shape, Lay::Plain), place(gpu, &g, &shape, lay));
                ops::softmax_backward(&y, &g, axis)
            }),
            _ => {
                // Their sums are exact.
                let whole = Fill::Integers.values::<T>(shape.iter().product(), 4);
                pair.same(&format!("cumsum {what}"), |gpu| {
                    ops::cumsum(&place(gpu, &whole, &shape, lay), axis)
                });
            }
        }
    }
    let Some(pair) = Pair::open() else { return };
    for [along, lay, dtype] in sweep([4 * 3, 2, 3]) {
        let of_type = [of_type::<f32>, of_type::<f16>, of_type::<bf16>][dtype];
        of_type(&pair, [along / 3, along % 3, lay]);
    }
    // A line alone exceeds a binding.
    let x = pair.small.zeros::<f32>([3, 20_001]).unwrap();
    let error = ops::softmax(&x, 1).expect_err("there is no such window");
    assert!(matches!(error, Error::Limit { needed: 80_004, .. }), "{error}");
    assert!(error.to_string().contains("slice along axis 1"), "{error}");
    assert_eq!(ops::add(&x, 1.0).unwrap().to_vec().unwrap(), vec![1.0; 60_003], "the operand is usable");
}

#[test]
fn norms_of_rows() {
    fn of_type<T: Real>(pair: &Pair, [part, lay]: [usize; 2]) {
        let shape = [9, 31, 203];
        let (x, g) = (values::<T>(&shape, 4.0, 1), values::<T>(&shape, 1.0, 2));
        let row = values::<T>(&[203], 1.0, 3);
        let off = if T::DTYPE == DType::F32 { 1e-4 } else { 5e-2 };
        let lay = [Lay::Plain, Lay::Odd][lay];
        pair.close(&format!("part {part} of {lay:?} {}", T::DTYPE), off, |gpu| {
            let row = place(gpu, &row, &[203], lay);
            let norm = LayerNorm::new().gamma(&row).beta(&row);
            let (x, g) = (place(gpu, &x, &shape, lay), place(gpu, &g, &shape, lay));
            match part {
                0 => return norm.run(&x),
                1 => return RmsNorm::new().run(&x),
                _ => {}
            }
            let (total, normed) = norm.residual(&x, &g)?;
            let found = norm.backward(&total, &normed, &g)?;
            match part {
                2 => normed.mean.cast(),
                3 => normed.rstd.cast(),
                4 => Ok(found.0),
                5 => found.1.get("gamma").expect("there is a gamma").cast(),
                _ => found.1.get("beta").expect("there is a beta").cast(),
            }
        });
    }
    let Some(pair) = Pair::on_the_first_driver() else { return };
    for [part, lay, dtype] in sweep([7, 2, 3]) {
        let of_type = [of_type::<f32>, of_type::<f16>, of_type::<bf16>][dtype];
        of_type(&pair, [part, lay]);
    }
}

/// A norm of channels of this type: its results and gradients.
fn of_channels<T: Real>(pair: &Pair, shape: [usize; 3], off: f64, [norm, lay]: [usize; 2]) {
    let (x, g) = (values::<T>(&shape, 4.0, 1), values::<T>(&shape, 1.0, 2));
    let channels = shape[2];
    let row = values::<T>(&[channels], 1.0, 3);
    let lay = [Lay::Plain, Lay::Odd, Lay::Reversed][lay];
    let what = format!("{lay:?} {shape:?} {}", T::DTYPE);
    let all_of = |y: &Tensor<T>, rstd: &Tensor<f32>, found: &(Tensor<T>, Gradients)| {
        let [gamma, beta] = ["gamma", "beta"].map(|name| found.1.get(name).expect("there is one").clone());
        joined(&[y.cast()?, rstd.clone(), found.0.cast()?, gamma, beta])
    };
    match norm {
        0 => pair.close(&format!("GroupNorm::run {what}"), off, |gpu| {
            let row = place(gpu, &row, &[channels], lay);
            let (x, g) = (place(gpu, &x, &shape, lay), place(gpu, &g, &shape, lay));
            let norm = GroupNorm::new(4).gamma(&row).beta(&row);
            let normed = norm.with_statistics(&x)?;
            all_of(&normed.y, &normed.rstd, &norm.backward(&x, &normed, &g)?)
        }),
        1 => pair.close(&format!("InstanceNorm::run {what}"), off, |gpu| {
            let row = place(gpu, &row, &[channels], lay);
            let (x, g) = (place(gpu, &x, &shape, lay), place(gpu, &g, &shape, lay));
            let norm = InstanceNorm::new().gamma(&row).beta(&row);
            let normed = norm.with_statistics(&x)?;
            all_of(&normed.y, &normed.rstd, &norm.backward(&x, &normed, &g)?)
        }),
        2 => pair.close(&format!("BatchNorm::run {what}"), off, |gpu| {
            let row = place(gpu, &row, &[channels], lay);
            let (mean, variance) = (row.cast::<f32>()?, ops::square(&row)?.cast::<f32>()?);
            let running = RunningStatistics { mean, variance };
            let norm = BatchNorm::new().gamma(&row).beta(&row);
            let (x, g) = (place(gpu, &x, &shape, lay), place(gpu, &g, &shape, lay));
            let y = norm.run(&x, &running)?;
            all_of(&y, &running.mean, &norm.backward(&x, &running, &g)?)
        }),
        3 => pair.close(&format!("one outer index {what}"), off, |gpu| {
            // It is computed in windows of its rows.
            let shape = [1, shape[0] * shape[1], channels];
            let (x, g) = (place(gpu, &x, &shape, lay), place(gpu, &g, &shape, lay));
            let row = place(gpu, &row, &[channels], lay);
            let norm = GroupNorm::new(4).gamma(&row).beta(&row);
            let normed = norm.with_statistics(&x)?;
            all_of(&normed.y, &normed.rstd, &norm.backward(&x, &normed, &g)?)
        }),
        _ => pair.close(&format!("BatchNorm::training {norm} {what}"), off, |gpu| {
            let row = place(gpu, &row, &[channels], lay);
            let (mean, variance) = (row.cast::<f32>()?, ops::square(&row)?.cast::<f32>()?);
            let running = RunningStatistics { mean, variance };
            let has_running = norm == 4;
            let norm = BatchNorm::new().gamma(&row).beta(&row);
            let (x, g) = (place(gpu, &x, &shape, lay), place(gpu, &g, &shape, lay));
            let normed = norm.training(&x, Some(&running).filter(|_| has_running))?;
            let found = norm.training_backward(&x, &normed, &g)?;
            let all = all_of(&normed.y, &normed.rstd, &found)?;
            let updated = normed.running.unwrap_or(running);
            joined(&[all, normed.mean, normed.variance, updated.mean, updated.variance])
        }),
    }
}

#[test]
fn norms_of_channels() {
    let Some(pair) = Pair::on_the_first_driver() else { return };
    for [norm, operand, lay] in sweep([6, 5, 3]) {
        let of = [norm, lay];
        match operand {
            0 => of_channels::<f32>(&pair, [61, 23, 24], 1e-4, of),
            1 => of_channels::<f16>(&pair, [61, 41, 24], 5e-2, of),
            2 => of_channels::<bf16>(&pair, [61, 41, 24], 2e-1, of),
            // Of 257 rows of this length none but the first begins where a binding may begin.
            3 => of_channels::<f32>(&pair, [9, 29, 404], 1e-4, of),
            _ => of_channels::<f32>(&pair, [61, 23, 28], 1e-4, of),
        }
    }
    let x = pair.small.zeros::<f32>([3, 900, 24]).unwrap();
    says(GroupNorm::new(4).run(&x), &["slice along axis 0"]);
    let x = pair.small.zeros::<f32>([3, 1, 20_000]).unwrap();
    says(BatchNorm::new().training(&x, None), &["slice along axis 2"]);
    says(LayerNorm::new().run(&x), &["slice along axis 2"]);
}

/// The statistics of elements far from 0 are as exact as those of one window.
#[test]
fn batch_norms_at_a_large_mean() {
    let Some(pair) = Pair::open() else { return };
    let x: Vec<f32> = values::<f32>(&[9001, 8], 1.0, 5).iter().map(|x| 1e6 + 64.0 * x).collect();
    let run = |gpu: &Gpu| BatchNorm::new().training(&gpu.tensor(&x, [9001, 8])?, None);
    pair.close("the result", 1e-4, |gpu| Ok(run(gpu)?.y));
    pair.close("the variance", 1e-4, |gpu| Ok(run(gpu)?.variance));
}

/// Other losses of elements, each with its own slope.
#[test]
fn losses_of_elements() {
    fn of_type<T: Real>(pair: &Pair) {
        let shape = [9, 31, 203];
        let (x, y) = (values::<T>(&shape, 4.0, 1), values::<T>(&shape, 1.0, 2));
        let weights = values::<f32>(&[203], 1.0, 3);
        let off = if T::DTYPE == DType::F32 { 1e-4 } else { 2e-2 };
        for function in 0..4 {
            for reduction in [Reduction::None, Reduction::Mean, Reduction::Sum] {
                for part in [0, 1] {
                    pair.close(&format!("{function} {part} {reduction:?} {}", T::DTYPE), off, |gpu| {
                        let (x, y) =
                            (place(gpu, &x, &shape, Lay::Odd), place(gpu, &y, &shape, Lay::Reversed));
                        let weights = place(gpu, &weights, &[203], Lay::Gaps);
                        let g = 0.5;
                        let (loss, gradient) = match function {
                            0 => ops::l1_and_gradient(&x, &y, reduction, g)?,
                            1 => ops::huber_and_gradient(&x, &y, 0.7, reduction, g)?,
                            2 => ops::bce_with_logits_and_gradient(&x, &y, None, reduction, g)?,
                            _ => ops::bce_with_logits_and_gradient(&x, &y, Some(&weights), reduction, g)?,
                        };
                        if part == 0 { Ok(loss) } else { gradient.cast() }
                    });
                }
            }
        }
    }
    let Some(pair) = Pair::on_the_first_driver() else { return };
    of_type::<f32>(&pair);
    of_type::<f16>(&pair);
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
    let Some(pair) = Pair::on_the_first_driver() else { return };
    of_type::<f32>(&pair);
    of_type::<f16>(&pair);
}
