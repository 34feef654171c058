//! Convolutions of i8: products of windows whose sums are exact, scaled in the same launch.

use super::geometry::ConvGeometry;
use super::options::ConvOptions;
use super::quantised_problem::{OP, QuantisedConvProblem, RULE_OF_BIAS, RULE_OF_SCALES, check_channels};
use crate::error::call;
use crate::gemm::{Numbers, check_out_scale};
use crate::gpu::check_same_gpu;
use crate::layout::{DType, Element};
use crate::ops::Activation;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// The scales of a convolution of i8: the real number that 1 stands for in each operand.
#[derive(Clone, Copy, Debug)]
pub struct ConvScales<'a> {
    /// The scale of all images.
    pub x: f32,
    /// The scales of the output channels of the weight, (outputs).
    pub weight: Option<&'a Tensor<f32>>,
    /// The scale of a result of i8. None for results of other types.
    pub out: Option<f32>,
}

impl Default for ConvScales<'_> {
    /// No scales.
    fn default() -> Self {
        Self { x: 1.0, weight: None, out: None }
    }
}

/// Convolution of i8: activation(scales $\cdot (x \ast w)$ + bias). The sums are exact, in i32; the rest is computed in f32 and
/// rounded once, to `C`: f32, f16 or bf16, or i8, of which 1 stands for `scales.out`. With a `C` of i32 the result is the sums, and
/// there is nothing else.
///
/// Numbers are quantised symmetrically: 0 stands for 0, so the padding is 0.
///
/// # Shapes
/// As [`conv2d`](super::conv2d); `scales.weight` (outputs).
/// # Errors
/// As [`conv2d`](super::conv2d); [`Error::Shape`] for scales of another length; [`Error::Input`] if `C` is i32 and there is a scale, a
/// bias or an activation, for a scale of the result that is 0, negative, infinite or NaN, and for one with a `C` other than i8;
/// [`Error::Limit`] if a window has more than [`MAX_I8_K`](crate::planning::gemm::MAX_I8_K) elements, 131,071, or one image exceeds the
/// device's binding size.
/// # Precision
/// Sums are exact; that of [`Gemm::row_scale`](crate::Gemm::row_scale) and, for results of i8, of
/// [`Gemm::out_scale`](crate::Gemm::out_scale).
/// # Launches
/// One, unless the images exceed the device's binding size; one more for a weight with gaps between its channels, such as one that is stored channels first and permuted; one more on a
/// device of four storage bindings, which applies scales, bias and activation.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::Activation;
/// use tilewise::conv::{ConvOptions, ConvScales, Padding, conv2d_quantised};
///
/// let x = gpu.tensor(&[100i8, 20, -5], [1, 1, 3, 1])?;
/// let sums = gpu.tensor(&[1i8, 2], [1, 1, 2, 1])?;
/// let options = ConvOptions::new().padding(Padding::Explicit([[0, 0], [0, 1]]));
/// let plain = ConvScales::default();
/// let y = conv2d_quantised::<i32>(&x, &sums, plain, None, &options, Activation::None)?;
/// assert_eq!(y.to_vec()?, [140, 10, -5]);
///
/// let scales = ConvScales { x: 0.5, out: Some(2.0), ..plain };
/// let q = conv2d_quantised::<i8>(&x, &sums, scales, None, &options, Activation::Relu)?;
/// assert_eq!(q.to_vec()?, [35, 2, 0]); // of 70, 5 and 0
/// # Ok(())
/// # }
/// ```
pub fn conv2d_quantised<C: Element>(
    x: &Tensor<i8>,
    weight: &Tensor<i8>,
    scales: ConvScales<'_>,
    bias: Option<&Tensor<f32>>,
    options: &ConvOptions,
    activation: Activation,
) -> Result<Tensor<C>> {
    call(OP, || {
        let gpu = x.gpu();
        let vectors = [bias, scales.weight].into_iter().flatten();
        let others = [weight.gpu()].into_iter().chain(vectors.clone().map(Tensor::gpu));
        others.into_iter().try_for_each(|other| check_same_gpu(OP, gpu, other))?;
        let geometry = ConvGeometry::new(OP, x.layout(), weight.layout(), options)?;
        let is_plain = vectors.clone().count() == 0 && activation == Activation::None;
        if C::DTYPE == DType::I32 && !(is_plain && scales.x == 1.0) {
            let why =
                "it is i32, the exact sums, which are not scaled, shifted or activated: name another type";
            return Err(Error::input(format!("{OP}: the result"), why));
        }
        check_out_scale(scales.out, C::DTYPE)?;
        QuantisedConvProblem::check_types(&geometry, C::DTYPE)?;
        for (of, rule) in [(bias, RULE_OF_BIAS), (scales.weight, RULE_OF_SCALES)] {
            of.map_or(Ok(()), |of| check_channels(of.layout(), geometry.outputs, rule))?;
        }
        if geometry.output_shape().contains(&0) {
            return gpu.empty(geometry.output_shape());
        }
        let weight = match geometry.volume().weight_matrix(weight.layout())? {
            Some(_) => weight.clone(),
            None => weight.contiguous()?,
        };
        let mut problem = QuantisedConvProblem::new(&geometry, [x.layout(), weight.layout()], C::DTYPE)?;
        problem = problem.scaled(scales.x).activation(activation);
        if let Some(bias) = bias {
            problem = problem.bias(bias.layout())?;
        }
        if let Some(scale) = scales.weight {
            problem = problem.channel_scales(scale.layout())?;
        }
        let numbers = Numbers { alpha: scales.x, beta: 0.0, out_scale: scales.out.unwrap_or(1.0) };
        let inputs: Vec<_> =
            [x.view(), weight.view()].into_iter().chain(vectors.map(|of| of.view())).collect();
        let numbers = problem.numbers(numbers)?;
        Tensor::computed(gpu, &problem, &inputs, &numbers, geometry.output_shape())
    })
}
