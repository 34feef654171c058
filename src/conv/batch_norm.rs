//! Batch norms in evaluation, folded into the convolution before them.

use crate::error::call;
use crate::layout::Real;
use crate::ops::{self, RunningStatistics};
use crate::tensor::Tensor;
use crate::{Error, Result};

/// A batch norm in evaluation as a scale $a = \gamma / \sqrt{v + \varepsilon}$ and a shift $t = \beta - m a$ of each channel, for
/// [`Convolution::scale_shift`](super::Convolution::scale_shift). Without gamma it is 1, without beta 0.
///
/// $\varepsilon$ is $10^{-5}$ in `PyTorch`, and $10^{-3}$ in Keras and in many networks for the detection of objects.
///
/// # Shapes
/// All are (channels).
/// # Errors
/// [`Error::Shape`] if a tensor has another shape than the running mean; [`Error::Input`] if epsilon is negative or not finite;
/// [`Error::Gpu`] if tensors are on different devices.
/// # Precision
/// Computed in f32.
/// # Launches
/// Two.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::conv::batch_norm_terms;
/// use tilewise::ops::RunningStatistics;
///
/// let (mean, variance) = (gpu.tensor(&[1.0f32, 2.0], [2])?, gpu.tensor(&[4.0f32, 0.25], [2])?);
/// let [scale, shift] = batch_norm_terms(&RunningStatistics { mean, variance }, None, None, 0.0)?;
/// let near = |found: &[f32], want: [f32; 2]| found.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-5);
/// assert!(near(&scale.to_vec()?, [0.5, 2.0]) && near(&shift.to_vec()?, [-0.5, -4.0]));
/// # Ok(())
/// # }
/// ```
pub fn batch_norm_terms(
    running: &RunningStatistics,
    gamma: Option<&Tensor<f32>>,
    beta: Option<&Tensor<f32>>,
    eps: f32,
) -> Result<[Tensor<f32>; 2]> {
    const OP: &str = "batch_norm_terms";
    call(OP, || {
        let scale = scale(OP, running, [gamma, beta], eps)?;
        let shift = match beta {
            None => ops::map(&[&running.mean, &scale], |[mean, scale]| -(mean * scale))?,
            Some(beta) => {
                ops::map(&[beta, &running.mean, &scale], |[beta, mean, scale]| beta - mean * scale)?
            }
        };
        Ok([scale, shift])
    })
}

/// The weight $w a$ and the bias $\beta + (b - m) a$ of a convolution that does what one of weight $w$ and bias $b$ does with a batch
/// norm in evaluation behind it; $a = \gamma / \sqrt{v + \varepsilon}$. Without gamma it is 1; missing biases are 0.
///
/// The weight is rounded to its type again. [`batch_norm_terms`] leaves it unchanged.
///
/// # Shapes
/// `weight` (outputs, height, width, channels / groups) and the result of its shape; all others are (outputs).
/// # Errors
/// As [`batch_norm_terms`]; [`Error::Shape`] if the weight does not have four axes, or has another number of outputs.
/// # Precision
/// Computed in f32, and the weight is rounded once, to `T`.
/// # Launches
/// Three.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::conv::fold_batch_norm;
/// use tilewise::ops::RunningStatistics;
///
/// let weight = gpu.tensor(&[1.0f32, 2.0], [2, 1, 1, 1])?;
/// let (mean, variance) = (gpu.tensor(&[1.0f32, 2.0], [2])?, gpu.tensor(&[4.0f32, 0.25], [2])?);
/// let running = RunningStatistics { mean, variance };
/// let (weight, bias) = fold_batch_norm(&weight, None, &running, None, None, 0.0)?;
/// let near = |found: &[f32], want: [f32; 2]| found.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-5);
/// assert!(near(&weight.to_vec()?, [0.5, 4.0]) && near(&bias.to_vec()?, [-0.5, -4.0]));
/// # Ok(())
/// # }
/// ```
pub fn fold_batch_norm<T: Real>(
    weight: &Tensor<T>,
    bias: Option<&Tensor<T>>,
    running: &RunningStatistics,
    gamma: Option<&Tensor<f32>>,
    beta: Option<&Tensor<f32>>,
    eps: f32,
) -> Result<(Tensor<T>, Tensor<f32>)> {
    const OP: &str = "fold_batch_norm";
    call(OP, || {
        let &[outputs, _, _, _] = weight.shape() else {
            let rule = "the weight must have the axes (outputs, height, width, channels / groups)";
            return Err(Error::shape(OP, rule, weight.shape()));
        };
        for other in [Some(running.mean.shape()), bias.map(Tensor::shape)].into_iter().flatten() {
            if other != [outputs] {
                let rule = "bias and batch norm must have an element for each output channel of the weight";
                return Err(Error::shapes(OP, rule, other, weight.shape()));
            }
        }
        let (mean, scale) = (&running.mean, scale(OP, running, [gamma, beta], eps)?);
        let bias = match (bias, beta) {
            (None, None) => ops::map(&[mean, &scale], |[mean, scale]| -(mean * scale))?,
            (None, Some(beta)) => ops::map(&[beta, mean, &scale], |[beta, mean, scale]| beta - mean * scale)?,
            (Some(bias), None) => {
                ops::map(&[bias, mean, &scale], |[bias, mean, scale]| (bias - mean) * scale)?
            }
            (Some(bias), Some(beta)) => {
                ops::map(&[bias, mean, &scale, beta], |[bias, mean, scale, beta]| {
                    beta + (bias - mean) * scale
                })?
            }
        };
        let of_outputs = scale.reshape([outputs, 1, 1, 1])?;
        let weight = ops::map(&[weight, &of_outputs], |[weight, scale]| weight * scale)?;
        Ok((weight, bias))
    })
}

/// The scale of each channel.
fn scale(
    op: &'static str,
    running: &RunningStatistics,
    weights: [Option<&Tensor<f32>>; 2],
    eps: f32,
) -> Result<Tensor<f32>> {
    let [gamma, _] = weights;
    let shape = running.mean.shape();
    for other in weights.into_iter().flatten().chain([&running.variance]) {
        if shape.len() != 1 || other.shape() != shape {
            let rule = "statistics, gamma and beta must be vectors with an element for each channel";
            return Err(Error::shapes(op, rule, other.shape(), shape));
        }
    }
    if !(eps >= 0.0 && eps.is_finite()) {
        let why = format!("it must be finite and at least 0, not {eps}");
        return Err(Error::input(format!("{op}: epsilon"), why));
    }
    match gamma {
        None => ops::map(&[&running.variance], |[variance]| (variance + eps).rsqrt()),
        Some(gamma) => {
            ops::map(&[gamma, &running.variance], |[gamma, variance]| gamma * (variance + eps).rsqrt())
        }
    }
}
