//! Sparse operators: kernels draw the nonzeros of each line when they use them, from counters.

mod kernel;
mod plan;
mod problem;

pub use problem::{SparseDims, SparseMethod, SparseProblem};

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
    let problem = SparseProblem::new(operator.sketch, direction, x.layout(), axis, T::DTYPE)?;
    let problem = problem.seeded(operator.source()?);
    let numbers = operator.sketch.numbers(problem.seed);
    Tensor::computed(x.gpu(), &problem, &operator.inputs(x), &numbers, problem.shape())
}
