//! Operations on elements and along axes: copies, sums, products, activations, softmax.

mod activation;
mod cast;
mod elementwise;
mod numbers;
mod rows;

pub use crate::layout::Overflow;
pub use activation::Activation;
pub use cast::{CastDims, CastProblem};
pub use elementwise::{
    Elementwise, ElementwiseDims, ElementwiseProblem, activate, activate_backward, activate_into, add,
    add_inplace, add_into, bias_add_inplace, broadcast_shape, mul, mul_into, sub, sub_into,
};
pub use rows::{Rows, RowsDims, RowsProblem, max_abs, softmax, sum, sum_squares};
