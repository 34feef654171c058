//! Applying a random operator along an axis: the family of kernels for its kind.

use crate::layout::Real;
use crate::plan::Plan;
use crate::sketch::dense::{self, DenseProblem};
use crate::sketch::hadamard::{self, HadamardProblem};
use crate::sketch::operator::axis::AxisLayout;
use crate::sketch::operator::{Applied, Direction, OP, SketchKind};
use crate::sketch::sparse::{self, SparseProblem};
use crate::tensor::Tensor;
use crate::{Error, Result};

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
        match self.sketch.kind() {
            SketchKind::Gaussian | SketchKind::Uniform | SketchKind::Sign => {
                dense::apply(self, direction, &x, axis)
            }
            SketchKind::Hadamard => hadamard::apply(self, direction, &x, axis),
            _ => sparse::apply(self, direction, &x, axis),
        }
    }

    /// The plan of [`along`](Self::along).
    pub(super) fn plan<T: Real>(self, direction: Direction, x: &Tensor<T>, axis: usize) -> Result<Plan> {
        let (layout, x) = self.checked_axis(direction, x, axis)?;
        if layout.is_empty() {
            let rule = "the result must have elements: an empty one needs no launch";
            return Err(Error::shapes(OP, rule, x.shape(), &self.sketch.shape()));
        }
        let (gpu, seed) = (x.gpu(), self.source()?);
        match self.sketch.kind() {
            SketchKind::Gaussian | SketchKind::Uniform | SketchKind::Sign => {
                let problem = DenseProblem::new(self.sketch, direction, x.layout(), axis, T::DTYPE)?;
                gpu.explained(&problem.seeded(seed))
            }
            SketchKind::Hadamard => {
                let problem = HadamardProblem::new(self.sketch, direction, x.layout(), axis, T::DTYPE)?;
                gpu.explained(&problem.seeded(seed))
            }
            _ => {
                let problem = SparseProblem::new(self.sketch, direction, x.layout(), axis, T::DTYPE)?;
                gpu.explained(&problem.seeded(seed))
            }
        }
    }

    /// The layout of `x` along an axis, which must have the extent of the operator's lines. Also returns `x`, or a copy
    /// if its strides do not allow the other axes to be merged.
    fn checked_axis<T: Real>(
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
        layout.check(from, &x, shape)?;
        Ok((layout, x))
    }
}
