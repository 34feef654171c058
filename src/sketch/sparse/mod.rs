//! Sparse operators: kernels draw the nonzeros of each line where they use them, from counters.

mod kernel;
mod plan;
mod problem;

pub use problem::{SparseDims, SparseMethod, SparseProblem};

use crate::Result;
use crate::layout::Real;
use crate::sketch::operator::{Direction, Sketch};
use crate::tensor::Tensor;

pub(super) fn apply<T: Real>(
    sketch: &Sketch,
    direction: Direction,
    x: &Tensor<T>,
    axis: usize,
) -> Result<Tensor<f32>> {
    let problem = SparseProblem::new(sketch, direction, x.layout(), axis, T::DTYPE)?;
    let [y] = x.gpu().compute(&problem, &[x.view()], &sketch.scalars())?;
    Tensor::from_output(y, problem.result()?.shape())
}
