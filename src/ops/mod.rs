//! Elementwise operations, reductions along an axis, softmax, casts, copies and concatenation.

pub(crate) mod activation;
pub(crate) mod axis;
pub(crate) mod cast;
pub(crate) mod copy;
pub(crate) mod descent;
pub(crate) mod elementwise;
pub(crate) mod image;
mod packing;
mod vectors;

pub use crate::layout::Overflow;
pub use activation::Activation;
pub(crate) use axis::{AxisFunction, AxisProblem};
pub use axis::{max_abs, softmax, sum, sum_squares};
pub(crate) use cast::CastProblem;
pub use copy::{concat, copy_into, copy_into_at, slice_at, stack};
pub use descent::Rate;
pub(crate) use elementwise::broadcast_shape;
pub use elementwise::{
    activate, activate_backward, activate_into, add, add_assign, add_into, bias_add_assign, mul, mul_into,
    sub, sub_assign, sub_into,
};
pub use image::{Pixels, TexelFormat};
