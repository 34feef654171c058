//! The definitions, in f64 and plain loops, and the bounds within which a kernel must agree with them.
//! Public: users test against them too.

mod bounds;
mod gemm;

pub use bounds::{Comparison, STEP, compare, gamma, gamma_f16, store_tolerance, sum_tolerance, tolerance};
pub use gemm::{GemmReference, gemm, gemm_entries, projection};
