//! Copies of views, row-major without gaps, in another type if asked for.

mod kernel;
mod plan;
mod problem;

pub use problem::{CastDims, CastProblem, Overflow};

use crate::Result;
use crate::tensor::{Element, Tensor};

/// A new tensor with the elements of `view` as `U`, row-major without gaps.
pub(crate) fn cast<T: Element, U: Element>(view: &Tensor<T>, overflow: Overflow) -> Result<Tensor<U>> {
    let gpu = view.gpu();
    if view.is_empty() {
        return gpu.empty(view.shape());
    }
    let problem = CastProblem::new(view.layout(), T::DTYPE, U::DTYPE, overflow)?;
    let [copy] = gpu.make(&problem, &[view.view()], &[])?;
    Tensor::made(copy, view.shape())
}
