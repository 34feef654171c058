//! Applying sparse operators. Nonzeros are made where they are used, from counters.

mod kernel;
mod plan;
mod problem;

pub use problem::{SparseDims, SparseForm, SparseProblem};

use super::apply::Way;
use super::operator::Sketch;
use crate::Result;
use crate::layout::Real;
use crate::tensor::Tensor;

pub(super) fn apply<T: Real>(sketch: &Sketch, way: Way, x: &Tensor<T>, axis: usize) -> Result<Tensor<f32>> {
    let problem = SparseProblem::new(sketch, way, x.layout(), axis, T::DTYPE)?;
    let [y] = x.gpu().make(&problem, &[x.view()], &SparseProblem::scalars(sketch))?;
    Tensor::made(y, problem.result()?.shape())
}
