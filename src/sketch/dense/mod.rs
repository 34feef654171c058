//! Dense operators: matrix products that generate one operand in the kernel.
//!
//! This folder has no `kernel.rs`: the kernels of the matrix product (`gemm/kernels/`) generate the operand.

mod plan;
mod problem;

pub use problem::DenseProblem;
