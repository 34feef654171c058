//! Hadamard operators: some rows of $H_{N} D$, where D is a diagonal of random signs, by fast Walsh-Hadamard
//! transforms.

mod kernel;
mod passes;
mod plan;
mod problem;

pub use kernel::{HadamardDims, HadamardLayout, HadamardPass, HadamardSource, HadamardTarget, HadamardTile};
pub use problem::HadamardProblem;

use crate::Result;
use crate::layout::Real;
use crate::plan::Plan;
use crate::sketch::operator::{Applied, Direction};
use crate::tensor::Tensor;

pub(super) fn apply<T: Real>(
    operator: Applied<'_>,
    direction: Direction,
    x: &Tensor<T>,
    axis: usize,
) -> Result<Tensor<f32>> {
    let problem = HadamardProblem::new(operator.sketch, direction, x.layout(), axis, T::DTYPE)?;
    let problem = problem.seeded(operator.source()?);
    let numbers = problem.numbers(operator.sketch);
    Tensor::computed(x.gpu(), &problem, &operator.inputs(x), &numbers, problem.shape())
}

/// Applies an operator by this plan.
pub(super) fn run<T: Real>(
    operator: Applied<'_>,
    problem: &HadamardProblem,
    plan: &Plan,
    x: &Tensor<T>,
) -> Result<Tensor<f32>> {
    let mut y = x.gpu().empty::<f32>(problem.shape())?;
    let numbers = problem.numbers(operator.sketch);
    let mut operands = operator.inputs(x);
    operands.insert(1, y.view_mut()?);
    x.gpu().execute(plan, &operands, &numbers)?;
    Ok(y)
}
