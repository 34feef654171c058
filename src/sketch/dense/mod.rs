//! Operators whose entries are all drawn: products with an operand that is made in the kernel.
//!
//! This folder has no `kernel.rs`: such a product runs the kernels of the matrix product (`gemm/kernels/`), which make one
//! operand themselves.

mod plan;
mod problem;

pub use problem::DenseProblem;

use super::apply::Way;
use super::operator::Sketch;
use super::philox::halves;
use crate::Result;
use crate::gemm::{Gemm, Pin, SignHalf};
use crate::layout::Precision;
use crate::layout::Real;
use crate::tensor::Tensor;

pub(super) fn apply<T: Real>(sketch: &Sketch, way: Way, x: &Tensor<T>, axis: usize) -> Result<Tensor<f32>> {
    run(sketch, &DenseProblem::new(sketch, way, x.layout(), axis, T::DTYPE)?, x)
}

fn run<T: Real>(sketch: &Sketch, problem: &DenseProblem, x: &Tensor<T>) -> Result<Tensor<f32>> {
    let mut shape = x.shape().to_vec();
    shape[problem.axis] = problem.extents[1];
    let [y] = x.gpu().make(problem, &[x.view()], &problem.numbers(sketch))?;
    Tensor::made(y, shape)
}

/// Applies a dense operator by the kernels that are pinned: for this crate's own tests.
#[doc(hidden)]
pub fn dense_as<T: Real>(
    sketch: &Sketch,
    way: Way,
    x: &Tensor<T>,
    axis: usize,
    pin: Pin,
) -> Result<Tensor<f32>> {
    let (_, x) = sketch.checked(way, x, axis)?;
    run(sketch, &DenseProblem { pin, ..DenseProblem::new(sketch, way, x.layout(), axis, T::DTYPE)? }, &x)
}

/// The product of `a` and `b` by the kernels that stage their operands, or of `b` beside signs where those are given:
/// both have the same bits. For this crate's own tests.
#[doc(hidden)]
pub fn staged_as<'a, T: Real>(
    a: &'a Tensor<T>,
    b: &'a Tensor<T>,
    signs: Option<(&Sketch, SignHalf)>,
) -> Gemm<'a, T> {
    let product = Gemm::new(a, b).precision(Precision::Strict).pinned(Pin::Staged);
    match signs {
        None => product,
        Some((sketch, signs)) => {
            product.sign_half(SignHalf { tag: sketch.tag(), ..signs }, halves(sketch.seed()))
        }
    }
}
