//! Matrix products: [`matmul`], or [`Gemm`] with options, and the layers [`linear`], [`Linear`] and [`linear_quantised`].
//!
//! Data flows one way: `problem` (checked, plain data), `kernels` (one file each), `plan` (the one choice), then `call`, which
//! executes plans. `f16_split` and `segments` are problems of their own, with plans of the same kernels.

mod call;
pub(crate) mod f16_split;
pub(crate) mod kernels;
mod plan;
pub(crate) mod problem;
pub(crate) mod segments;

pub use crate::layout::{Float, Operand, Quantised, Summand};
pub use call::{Gemm, Linear, LinearScales, linear, linear_backward, linear_quantised, matmul};
pub(crate) use call::{add_sum_of_rows, check_out_scale, product};
pub use problem::{Accumulator, GemmKernel, SplitK, Tile};

pub(crate) use f16_split::NON_FINITE_EXPONENT;
pub(crate) use kernels::reduce_splits;
pub(crate) use plan::GeneratedTrial;
pub(crate) use problem::{
    BiasAxis, Distribution, GemmProblem, GemmTypes, GeneratedOperand, HalfAxis, HalfPosition, ImageWindows,
    MAX_I8_K, Numbers, OuterAxis, Pin, Scale, SeedSource, Side, SignHalf, WindowB,
};
pub(crate) use segments::{Segment, SegmentedProblem, SegmentedProduct, segment_table};
