//! Elementwise operations, reductions, norms, softmax, losses, rotary embeddings, casts, copies and elements by index.
//!
//! | to | call |
//! |---|---|
//! | calculate | [`add`], [`sub`], [`mul`], [`div`], [`pow`], [`neg`], [`recip`], [`square`], [`abs`], [`sign`] |
//! | compute functions of elements | [`sqrt`], [`rsqrt`], [`exp`], [`expm1`], [`log()`], [`log1p`], [`sin`], [`cos`], [`tanh`], [`atan2`], [`sigmoid`] |
//! | round and limit | [`floor`], [`ceil`], [`round`], [`minimum`], [`maximum`], [`clamp`] |
//! | compare, and choose by a mask | [`equal`], [`not_equal`], [`less`], [`less_or_equal`], [`greater`], [`greater_or_equal`], [`and`], [`or`], [`not`], [`select`] |
//! | compute an expression in one launch | [`map`] with [`Expr`] |
//! | write to an existing tensor | [`Tensor::assign`](crate::Tensor::assign), [`add_assign`], [`sub_assign`], [`mul_assign`], [`bias_add_assign`] |
//! | apply an activation | [`activate`], [`activate_backward`] |
//! | reduce axes | [`sum`], [`mean`], [`max`], [`min`], [`prod`], [`max_abs`], [`sum_abs`], [`sum_squares`], [`norm()`], [`var`], [`argmax`], [`argmin`], [`cumsum()`] |
//! | normalise | [`LayerNorm`], [`RmsNorm`], [`GroupNorm`], [`InstanceNorm`], [`BatchNorm`] |
//! | turn scores into probabilities | [`softmax()`], [`log_softmax`], [`Softmax`], [`softmax_backward`], [`log_softmax_backward`] |
//! | compute a loss | [`cross_entropy`], [`CrossEntropy`], [`mse`], [`l1`], [`huber`], [`bce_with_logits`] |
//! | compute its gradient, too | [`cross_entropy_and_gradient`], [`mse_and_gradient`], [`l1_and_gradient`], [`huber_and_gradient`], [`bce_with_logits_and_gradient`] |
//! | copy, join, repeat | [`copy_into`], [`copy_into_at`], [`slice_at`], [`concat()`], [`stack`], [`repeat`], [`pad()`], [`tril`], [`triu`] |
//! | take elements by index, and add to them | [`embedding`], [`embedding_backward`], [`gather()`], [`index_select`], [`index_add`], [`scatter_add`], [`one_hot()`] |
//! | rotate queries and keys | [`Rotary`] |
//! | pool images | [`MaxPool2d`], [`AvgPool2d`], [`AdaptiveMaxPool2d`], [`AdaptiveAvgPool2d`] |
//! | resize images | [`interpolate()`], [`interpolate_backward`], [`pixel_shuffle()`], [`pixel_unshuffle`] |
//!
//! Other operations can be composed from these: [`map`] computes an expression of elements in one launch (its example is the
//! optimiser Adam), and reductions compute one value for each row. For example, a layer norm without [`LayerNorm`]:
//! ```
//! # fn main() -> tilewise::Result<()> {
//! # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
//! use tilewise::{Tensor, ops};
//!
//! let x = gpu.tensor(&[1.0f32, 3.0, 10.0, 14.0], [2, 2])?;
//! let (gamma, beta) = (gpu.tensor(&[1.0f32, 2.0], [2])?, gpu.tensor(&[0.5f32, 0.0], [2])?);
//! let launches = gpu.stats().launches;
//! let mean = ops::mean(&x, 1)?.unsqueeze(1)?; // (2, 1), which broadcasts along the rows
//! let variance = ops::var(&x, 1, 0)?.unsqueeze(1)?;
//! let scaled: Tensor<f32> = ops::map(&[&x, &mean, &variance, &gamma], |[x, mean, variance, gamma]| {
//!     (x - mean) * (variance + 1e-5).rsqrt() * gamma
//! })?;
//! let y = (&scaled + &beta)?;
//! assert_eq!(gpu.stats().launches - launches, 4); // LayerNorm needs one
//! let close = |y: &[f32], to: [f32; 4]| y.iter().zip(to).all(|(y, to)| (y - to).abs() < 1e-4);
//! assert!(close(&y.to_vec()?, [-0.5, 2.0, -0.5, 2.0]));
//! # Ok(())
//! # }
//! ```
//! The book's page "Writing a layer" adds a backward pass and tests it.

pub(crate) mod activation;
pub(crate) mod band;
pub(crate) mod by_index;
pub(crate) mod cast;
mod copies;
pub(crate) mod copy;
pub(crate) mod cumsum;
pub(crate) mod elementwise;
pub(crate) mod gather;
pub(crate) mod image;
mod lines;
pub(crate) mod loss;
pub(crate) mod norm;
pub(crate) mod one_hot;
mod packing;
pub(crate) mod pad;
pub(crate) mod planes;
pub(crate) mod random;
mod read;
pub(crate) mod reduce;
pub(crate) mod reductions;
pub(crate) mod rotary;
pub(crate) mod scatter;
pub(crate) mod softmax;
pub(crate) mod subgroups;
pub(crate) mod table;
pub(crate) mod training;
pub(crate) mod vectors;
pub(crate) mod windows;
pub(crate) mod writer;

pub use crate::layout::Overflow;
pub use activation::Activation;
pub use band::{tril, triu};
pub(crate) use cast::CastProblem;
pub use copies::repeat;
pub use copy::{concat, copy_into, copy_into_at, slice_at, stack};
pub use cumsum::cumsum;
pub(crate) use elementwise::broadcast_shape;
pub use elementwise::functions::*;
pub use elementwise::{
    Argument, Expr, Function, MapOperand, activate, activate_backward, add_assign, bias_add_assign, map,
    mul_assign, sub_assign,
};
pub use gather::{Indices, embedding, gather, index_select};
pub use image::{Pixels, TexelFormat};
pub use loss::{
    CrossEntropy, CrossEntropyLoss, Reduction, Targets, bce_with_logits, bce_with_logits_and_gradient,
    cross_entropy, cross_entropy_and_gradient, huber, huber_and_gradient, l1, l1_and_gradient, mse,
    mse_and_gradient,
};
pub use norm::{
    BatchNorm, BatchNormed, GroupNorm, InstanceNorm, LayerNorm, Normed, RmsNorm, RmsNormed, RunningStatistics,
};
pub use one_hot::one_hot;
pub use pad::pad;
pub use planes::{
    AdaptiveAvgPool2d, AdaptiveMaxPool2d, AvgPool2d, Corners, Interpolation, MaxPool2d, MaxPooled,
    PoolDivisor, PoolPadding, PoolRounding, interpolate, interpolate_backward, pixel_shuffle,
    pixel_unshuffle,
};
pub use reduce::Axes;
pub(crate) use reduce::{ReduceFunction, ReduceProblem};
pub use reductions::functions::*;
pub use rotary::{Rotary, RotaryPairs};
pub use scatter::{embedding_backward, index_add, scatter_add};
pub use softmax::{Softmax, log_softmax, log_softmax_backward, softmax, softmax_backward};
pub use training::Rate;

/// What [`planning`](crate::planning::ops) shows of these operations: problems, uniforms and tables.
pub(crate) mod problems {
    pub use super::band::BandProblem;
    pub use super::by_index::{ByIndex, ByIndexProblem};
    pub use super::cast::problem::{CastDims, CastProblem};
    pub use super::copy::problem::{CopyDims, CopyProblem, Longer};
    pub use super::cumsum::problem::{CumsumDims, CumsumProblem};
    pub use super::elementwise::calls::{TensorCall, described, of_expressions, real_calls, tensor_calls};
    pub use super::elementwise::gradient::{gradient_formulas, gradients};
    pub use super::elementwise::map::mapped;
    pub use super::elementwise::operation::{Arguments, Elementwise};
    pub use super::elementwise::problem::{
        ElementwiseDims, ElementwiseDimsOfFour, ElementwiseProblem, broadcast_shape,
    };
    pub use super::gather::problem::{GatherDims, GatherProblem, Taken};
    pub use super::image::problem::{ColourScale, ImageDims, ImageProblem, ImageTransfer};
    pub use super::loss::cross_entropy::problem::{
        CrossEntropyDims, CrossEntropyProblem, IgnoredClass, TargetKind,
    };
    pub use super::loss::elements::function::LossFunction;
    pub use super::loss::elements::problem::{LossDims, LossProblem};
    pub use super::loss::total::TotalDims;
    pub use super::norm::channels::problem::{ChannelDims, ChannelPass, ChannelProblem};
    pub use super::norm::layouts::NormLayouts;
    pub use super::norm::rows::problem::{NormDims, NormKind, NormPass, NormProblem};
    pub use super::one_hot::problem::{OneHotDims, OneHotProblem};
    pub use super::pad::problem::{PadDims, PadProblem};
    pub use super::planes::axis::{AxisWindows, PlaneAxis};
    pub use super::planes::problem::{PlaneDims, PlaneFunction, PlaneProblem};
    pub use super::random::problem::{NormalDims, NormalProblem};
    pub use super::reduce::function::ReduceFunction;
    pub use super::reduce::problem::{ReduceDims, ReduceProblem};
    pub use super::reductions::calls::{ReductionCall, reduction_calls};
    pub use super::rotary::pairs::RotaryPass;
    pub use super::rotary::problem::{RotaryDims, RotaryProblem, RotaryTable};
    pub use super::scatter::problem::{ScatterDims, ScatterProblem, SortDims, Target};
    pub use super::softmax::function::SoftmaxFunction;
    pub use super::softmax::problem::{SoftmaxDims, SoftmaxProblem};
}
