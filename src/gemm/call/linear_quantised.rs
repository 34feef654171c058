//! Linear layers of quantised weights: a product of 8 bits with scales, a bias and an activation, in one launch.

use super::builder::Gemm;
use super::linear::{check_bias, check_inputs, check_weight};
use super::product::ProductCall;
use crate::Result;
use crate::error::call;
use crate::gemm::problem::BiasAxis;
use crate::layout::{Element, Quantised};
use crate::ops::Activation;
use crate::tensor::Tensor;
use std::marker::PhantomData;

/// The scales of a linear layer of 8 bits: the real number that 1 stands for in each operand.
#[derive(Clone, Copy, Debug)]
pub struct LinearScales<'a> {
    /// The scale of all of `x`.
    pub x: f32,
    /// The scales of the rows of `x`, (batch), in addition to the scale of all of `x`.
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

/// Linear layer of quantised operands: activation(scales $\cdot\\,x W^T$ + bias), in one launch. The sums of i8 are exact, and
/// those of e4m3 and e5m2 are in f32; the rest is computed in f32 and rounded once, to `C`: f32, f16 or bf16. For operands of i8,
/// `C` may also be i8; 1 then stands for `scales.out`.
///
/// # Shapes
/// `x` (..., batch, in), `weight` (out, in), `bias` (out), `scales.rows` (batch), `scales.weight` (out) -> (..., batch, out). The
/// weight is stored (out, in), as PyTorch stores it, and is read in place.
/// # Errors
/// As [`linear`](super::linear); [`Error::Shape`](crate::Error::Shape) for scales of other lengths;
/// [`Error::Input`](crate::Error::Input) if `C` is i32, or i8 for operands of another type, for a scale of the result that is 0,
/// negative, infinite or NaN, and for one with a `C` other than i8.
/// # Precision
/// That of [`Gemm::row_scale`] and, for results of i8, of [`Gemm::out_scale`].
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # use tilewise::gemm::{LinearScales, linear_quantised};
/// # use tilewise::{Activation, F8E4M3};
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let x = gpu.tensor(&[100i8, 20], [1, 2])?;
/// let weight = gpu.tensor(&[3i8, 4, -5, 1, 1, 1], [3, 2])?;
/// let (of_weight, bias) = (gpu.tensor(&[0.5f32, 1.0, 2.0], [3])?, gpu.tensor(&[1.0f32, 0.0, 0.0], [3])?);
/// let scales = LinearScales { x: 0.25, weight: Some(&of_weight), ..LinearScales::default() };
/// let y = linear_quantised::<i8, f32>(&x, &weight, scales, Some(&bias), Activation::Relu)?;
/// assert_eq!(y.to_vec()?, [48.5, 0.0, 60.0]); // of the sums [380, -480, 120]
///
/// let to_i8 = LinearScales { out: Some(0.5), ..scales };
/// let q = linear_quantised::<i8, i8>(&x, &weight, to_i8, Some(&bias), Activation::Relu)?;
/// assert_eq!(q.to_vec()?, [97, 0, 120]);
///
/// let (x, weight) = (x.cast::<F8E4M3>()?, weight.cast::<F8E4M3>()?); // 100 becomes 96
/// let y = linear_quantised::<F8E4M3, f32>(&x, &weight, scales, Some(&bias), Activation::Relu)?;
/// assert_eq!(y.to_vec()?, [47.0, 0.0, 58.0]);
/// # Ok(())
/// # }
/// ```
pub fn linear_quantised<T: Quantised, C: Element>(
    x: &Tensor<T>,
    weight: &Tensor<T>,
    scales: LinearScales<'_>,
    bias: Option<&Tensor<f32>>,
    activation: Activation,
) -> Result<Tensor<C>> {
    call("linear_quantised", || {
        check_weight(weight)?;
        if let Some(bias) = bias {
            check_bias(bias, weight)?;
        }
        check_inputs(x, weight)?;
        let weight = weight.t();
        let product = ProductCall {
            bias: bias.map(|bias| (BiasAxis::Columns, bias.as_view())),
            row_scale: scales.rows.map(Tensor::as_view),
            column_scale: scales.weight.map(Tensor::as_view),
            out_scale: scales.out,
            alpha: scales.x,
            activation,
            ..ProductCall::new(x.as_view(), weight.as_view())
        };
        Gemm::<T, C> { product, types: PhantomData }.run()
    })
}
