//! Linear layers of quantised weights: a product of i8 with scales, a bias and an activation, in one launch.

use super::builder::Gemm;
use super::linear::{check_bias, check_inputs, check_weight};
use crate::Result;
use crate::error::call;
use crate::layout::Element;
use crate::ops::Activation;
use crate::tensor::Tensor;

/// The scales of a linear layer of i8: what one step of each operand stands for.
#[derive(Clone, Copy, Debug)]
pub struct LinearScales<'a> {
    /// The scale of all of `x`.
    pub x: f32,
    /// The scales of the rows of `x`, (batch), in addition to that of all of it.
    pub rows: Option<&'a Tensor<f32>>,
    /// The scales of the outputs' rows of the weight, (out).
    pub weight: Option<&'a Tensor<f32>>,
    /// The scale of a result of i8. None for results of other types.
    pub out: Option<f32>,
}

impl Default for LinearScales<'_> {
    /// No scales.
    fn default() -> Self {
        Self { x: 1.0, rows: None, weight: None, out: None }
    }
}

/// Linear layer of quantised operands: activation(scales $\cdot\\,x W^T$ + bias), in one launch. The sums are exact; the rest is
/// computed in f32 and rounded once, to `C`: f32, f16 or bf16, or i8, of which one step is `scales.out`.
///
/// # Shapes
/// `x` (..., batch, in), `weight` (out, in), `bias` (out), `scales.rows` (batch), `scales.weight` (out) -> (..., batch, out). The
/// weight is stored (out, in), as PyTorch stores it, and is read in place.
/// # Errors
/// As [`linear`](super::linear); [`Error::Shape`](crate::Error::Shape) for scales of other lengths;
/// [`Error::Input`](crate::Error::Input) if `C` is i32, for a scale of the result that is 0, negative, infinite or NaN, and for
/// one with a `C` other than i8.
/// # Precision
/// That of [`Gemm::out_scale`] and of the options next to it.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # use tilewise::{Activation, LinearScales, linear_i8};
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let x = gpu.tensor(&[100i8, 20], [1, 2])?;
/// let weight = gpu.tensor(&[3i8, 4, -5, 1, 1, 1], [3, 2])?;
/// let (of_weight, bias) = (gpu.tensor(&[0.5f32, 1.0, 2.0], [3])?, gpu.tensor(&[1.0f32, 0.0, 0.0], [3])?);
/// let scales = LinearScales { x: 0.25, weight: Some(&of_weight), ..LinearScales::default() };
/// let y = linear_i8::<f32>(&x, &weight, scales, Some(&bias), Activation::Relu)?;
/// assert_eq!(y.to_vec()?, [48.5, 0.0, 60.0]); // of the sums [380, -480, 120]
///
/// let scales = LinearScales { out: Some(0.5), ..scales };
/// let q = linear_i8::<i8>(&x, &weight, scales, Some(&bias), Activation::Relu)?;
/// assert_eq!(q.to_vec()?, [97, 0, 120]);
/// # Ok(())
/// # }
/// ```
pub fn linear_i8<C: Element>(
    x: &Tensor<i8>,
    weight: &Tensor<i8>,
    scales: LinearScales<'_>,
    bias: Option<&Tensor<f32>>,
    activation: Activation,
) -> Result<Tensor<C>> {
    call("linear_i8", || {
        check_weight(weight)?;
        if let Some(bias) = bias {
            check_bias(bias, weight)?;
        }
        check_inputs(x, weight)?;
        let weight = weight.t();
        let mut product = Gemm::new(x, &weight).out::<C>().alpha(scales.x).activation(activation);
        if let Some(rows) = scales.rows {
            product = product.row_scale(rows);
        }
        if let Some(columns) = scales.weight {
            product = product.column_scale(columns);
        }
        if let Some(bias) = bias {
            product = product.bias(bias);
        }
        if let Some(out) = scales.out {
            product = product.out_scale(out);
        }
        product.run()
    })
}
