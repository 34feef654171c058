//! f16 splits: an f32 operand as f16, each row of A and column of B scaled by a power of two. An element is rounded to its high
//! half, and with [`Precision::Split`] the rest to its low half.

mod call;
mod kernel;
mod plan;
mod problem;

pub use call::{F16Split, f16_split};
pub(in crate::gemm) use problem::ROW_MULTIPLE;
pub use problem::{F16SplitDims, F16SplitProblem, NON_FINITE_EXPONENT};
