//! Matrix products: [`matmul`], or [`Gemm`] with options, and the layers [`linear`], [`Linear`] and [`linear_quantised`].
//!
//! Data flows one way: `problem` (checked, plain data), `kernels` (one file each), `plan` (the one choice), then the functions
//! here, which execute plans. `f16_split` and `segments` are problems of their own, with plans of the same kernels.

mod builder;
pub(crate) mod f16_split;
pub(crate) mod kernels;
mod linear;
mod linear_backward;
mod linear_quantised;
mod plan;
pub(crate) mod problem;
mod product;
mod quantised;
pub(crate) mod segments;

pub use crate::layout::{Float, Operand, Quantised, Summand};
pub use builder::{Gemm, matmul};
pub use linear::{Linear, linear};
pub(crate) use linear_backward::add_sum_of_rows;
pub use linear_backward::linear_backward;
pub use linear_quantised::{LinearScales, linear_quantised};
pub use problem::{Accumulator, GemmKernel, SplitK, Tile};

pub(crate) use f16_split::NON_FINITE_EXPONENT;
pub(crate) use kernels::reduce_splits;
pub(crate) use plan::GeneratedTrial;
pub(crate) use problem::{
    Distribution, GemmProblem, GemmTypes, GeneratedOperand, HalfAxis, HalfPosition, OuterAxis, Pin, Scale,
    SeedSource, Side, SignHalf,
};
pub(crate) use product::product;
pub(crate) use segments::{Segment, SegmentedProblem, SegmentedProduct, segment_table};
