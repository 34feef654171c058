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
use crate::sketch::operator::{Direction, Sketch};
use crate::tensor::Tensor;

pub(super) fn apply<T: Real>(
    sketch: &Sketch,
    direction: Direction,
    x: &Tensor<T>,
    axis: usize,
) -> Result<Tensor<f32>> {
    let problem = HadamardProblem::new(sketch, direction, x.layout(), axis, T::DTYPE)?;
    let [y] = x.gpu().compute(&problem, &[x.view()], &HadamardProblem::scalars(sketch))?;
    Tensor::from_output(y, problem.result()?.shape())
}

/// Applies an operator by this plan.
pub(super) fn run<T: Real>(
    sketch: &Sketch,
    problem: &HadamardProblem,
    plan: &Plan,
    x: &Tensor<T>,
) -> Result<Tensor<f32>> {
    let mut y = x.gpu().empty::<f32>(problem.result()?.shape())?;
    x.gpu().execute(plan, &[x.view(), y.view_mut()?], &HadamardProblem::scalars(sketch))?;
    Ok(y)
}
