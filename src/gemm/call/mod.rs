//! What users call: each turns its tensors into a checked problem and executes the problem's plan.

mod builder;
mod linear;
mod linear_backward;
mod linear_quantised;
mod product;
mod quantised;

pub use builder::{Gemm, matmul};
pub use linear::{Linear, linear};
pub(crate) use linear_backward::add_sum_of_rows;
pub use linear_backward::linear_backward;
pub use linear_quantised::{LinearScales, linear_quantised};
pub(crate) use product::{check_out_scale, product};
