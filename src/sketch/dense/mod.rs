//! Dense operators: matrix products that generate one operand in the kernel.
//!
//! This folder has no `kernel.rs`: the kernels of the matrix product (`gemm/kernels/`) generate the operand.

mod plan;
mod problem;

pub use problem::DenseProblem;

use crate::Result;
use crate::layout::Real;
use crate::sketch::operator::{Applied, Direction};
use crate::tensor::Tensor;

pub(super) fn apply<T: Real>(
    operator: Applied<'_>,
    direction: Direction,
    x: &Tensor<T>,
    axis: usize,
) -> Result<Tensor<f32>> {
    let problem = DenseProblem::new(operator.sketch, direction, x.layout(), axis, T::DTYPE)?;
    run(operator, &problem.seeded(operator.source()?), x)
}

pub(super) fn run<T: Real>(
    operator: Applied<'_>,
    problem: &DenseProblem,
    x: &Tensor<T>,
) -> Result<Tensor<f32>> {
    let mut shape = x.shape().to_vec();
    shape[problem.axis] = problem.extents[1];
    Tensor::computed(x.gpu(), problem, &operator.inputs(x), &problem.numbers(operator.sketch), shape)
}
