//! Hadamard operators: $H_{N} D$ of every line, some of whose rows are kept.

mod kernel;
mod plan;
mod problem;
mod rows;
mod split;

pub use kernel::{HadamardDims, HadamardLanes, HadamardPass, HadamardSource, HadamardTarget, HadamardTile};
pub use problem::HadamardProblem;
pub(super) use rows::RowOrder;

use super::apply::Way;
use super::operator::Sketch;
use crate::Result;
use crate::caps::Caps;
use crate::layout::Real;
use crate::plan::Problem;
use crate::tensor::Tensor;

pub(super) fn apply<T: Real>(sketch: &Sketch, way: Way, x: &Tensor<T>, axis: usize) -> Result<Tensor<f32>> {
    let problem = HadamardProblem::new(sketch, way, x.layout(), axis, T::DTYPE)?;
    let [y] = x.gpu().make(&problem, &[x.view()], &HadamardProblem::scalars(sketch))?;
    Tensor::made(y, problem.result()?.shape())
}

/// Applies a Hadamard operator in the passes that a device like `caps` would choose: for this crate's own tests.
#[doc(hidden)]
pub fn hadamard_as<T: Real>(
    sketch: &Sketch,
    way: Way,
    x: &Tensor<T>,
    axis: usize,
    caps: &Caps,
) -> Result<Tensor<f32>> {
    let problem = HadamardProblem::new(sketch, way, x.layout(), axis, T::DTYPE)?;
    let mut y = x.gpu().empty::<f32>(problem.result()?.shape())?;
    let plan = problem.plan(caps)?;
    x.gpu().execute(&plan, &[x.view(), y.view_mut()?], &HadamardProblem::scalars(sketch))?;
    Ok(y)
}
