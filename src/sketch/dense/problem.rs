//! A dense operator along an axis of a tensor, checked, as plain data.

use crate::gemm::{Distribution, Pin, Scale, SeedSource, SplitK};
use crate::layout::{DType, Layout};
use crate::plan::{Scalar, ScalarParameter};
use crate::sketch::operator::axis::SketchOperand;
use crate::sketch::operator::{Direction, OP, SCALE, Sketch, SketchKind};
use crate::{Error, Result};

/// A dense operator along an axis of a tensor, checked. Seed and scale are no part of it: a launch takes them as
/// scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DenseProblem {
    pub(super) entries: Distribution,
    pub(super) tag: u32,
    pub(super) direction: Direction,
    pub(super) operand: SketchOperand,
    /// Whether entries are scaled.
    pub(super) scale: Scale,
    pub(super) pin: Pin,
    /// Number of splits of k.
    pub(super) split: SplitK,
}

impl DenseProblem {
    /// The dense operator `sketch`, or its transpose, along an axis of `x`, a view of `dtype` elements. The result is
    /// contiguous and has elements.
    ///
    /// # Errors
    /// [`Error::Input`] if the operator is Hadamard or sparse; [`Error::Shape`] if `x` has no such axis, if the axis
    /// does not have the extent of the operator's lines, or if the result is empty.
    pub fn new(sketch: &Sketch, direction: Direction, x: &Layout, axis: usize, dtype: DType) -> Result<Self> {
        let entries = match sketch.kind() {
            SketchKind::Sign => Distribution::Sign,
            SketchKind::Uniform => Distribution::Uniform,
            SketchKind::Gaussian => Distribution::Normal,
            _ => return Err(Error::input(OP, "the operator must be dense: Gaussian, uniform or sign")),
        };
        let operand = SketchOperand::new(sketch, direction, x, axis, dtype)?;
        operand.check_elements(sketch.shape())?;
        let scale = if sketch.scale_f32() == 1.0 { Scale::One } else { Scale::Alpha };
        let (tag, pin, split) = (sketch.tag(), Pin::Free, SplitK::Auto);
        Ok(Self { entries, tag, direction, operand, scale, pin, split })
    }

    /// The same problem, restricted to a kernel of the matrix product.
    pub(in crate::sketch) fn pinned(self, pin: Pin) -> Self {
        Self { pin, ..self }
    }

    /// The same problem with the seed from another place.
    #[must_use]
    pub fn seeded(self, seed: SeedSource) -> Self {
        Self { operand: SketchOperand { seed, ..self.operand }, ..self }
    }

    /// The scalars that a launch takes: the seed unless a tensor holds it, and the scale unless it is 1.
    pub(super) fn scalars(&self) -> Vec<ScalarParameter> {
        let mut scalars = Sketch::scalars(self.operand.seed);
        scalars.retain(|scalar| *scalar != SCALE || self.scale == Scale::Alpha);
        scalars
    }

    /// The values of these scalars for the operator.
    pub(in crate::sketch) fn numbers(&self, sketch: &Sketch) -> Vec<Scalar> {
        let mut numbers = sketch.numbers(self.operand.seed);
        numbers.truncate(self.scalars().len());
        numbers
    }
}
