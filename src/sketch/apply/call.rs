//! Applying an operator along any axis of a tensor.

use crate::layout::Real;
use crate::plan::{AnyProblem, Plan, Scalar};
use crate::sketch::dense::DenseProblem;
use crate::sketch::hadamard::HadamardProblem;
use crate::sketch::operator::axis::AxisLayout;
use crate::sketch::operator::{Applied, Direction, OP, SketchKind};
use crate::sketch::sparse::SparseProblem;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// A problem, and the numbers that a call passes.
type NumberedProblem = (Box<AnyProblem>, Vec<Scalar>);

impl Applied<'_> {
    /// Applies the operator, or its transpose, along an axis of `x`.
    pub(super) fn along<T: Real>(
        self,
        direction: Direction,
        x: &Tensor<T>,
        axis: usize,
    ) -> Result<Tensor<f32>> {
        let (layout, x) = self.checked_axis(direction, x, axis)?;
        if layout.is_empty() {
            return x.gpu().empty(&layout.shape);
        }
        let (problem, numbers) = self.problem(direction, &x, axis)?;
        Tensor::computed(x.gpu(), &*problem, &self.inputs(&x), &numbers, layout.shape)
    }

    /// The plan of [`along`](Self::along).
    pub(super) fn plan<T: Real>(self, direction: Direction, x: &Tensor<T>, axis: usize) -> Result<Plan> {
        let (layout, x) = self.checked_axis(direction, x, axis)?;
        if layout.is_empty() {
            let rule = "the result must have elements: an empty one needs no launch";
            return Err(Error::shapes(OP, rule, x.shape(), &self.sketch.shape()));
        }
        x.gpu().explained(&*self.problem(direction, &x, axis)?.0)
    }

    fn problem<T: Real>(self, direction: Direction, x: &Tensor<T>, axis: usize) -> Result<NumberedProblem> {
        let (sketch, seed, x) = (self.sketch, self.source()?, x.layout());
        Ok(match sketch.kind() {
            SketchKind::Gaussian | SketchKind::Uniform | SketchKind::Sign => {
                let problem = DenseProblem::new(sketch, direction, x, axis, T::DTYPE)?.seeded(seed);
                (Box::new(problem), problem.numbers(sketch))
            }
            SketchKind::Hadamard => {
                let problem = HadamardProblem::new(sketch, direction, x, axis, T::DTYPE)?.seeded(seed);
                (Box::new(problem), problem.numbers(sketch))
            }
            _ => {
                let problem = SparseProblem::new(sketch, direction, x, axis, T::DTYPE)?.seeded(seed);
                (Box::new(problem), sketch.numbers(seed))
            }
        })
    }

    /// The layout of `x` along an axis, which must have the extent of the operator's lines. Also returns `x`, or a copy
    /// if its strides do not allow the other axes to be merged.
    pub(super) fn checked_axis<T: Real>(
        self,
        direction: Direction,
        x: &Tensor<T>,
        axis: usize,
    ) -> Result<(AxisLayout, Tensor<T>)> {
        if let Some(seed) = self.seed {
            seed.same_gpu(OP, x)?;
        }
        let shape = self.sketch.shape();
        let [from, to] = direction.lengths(shape);
        let (layout, x) = AxisLayout::of_tensor(x, axis, to)?;
        layout.check(from, x.layout(), shape)?;
        Ok((layout, x))
    }
}
