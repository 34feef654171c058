//! A dense operator along an axis of a tensor, checked, as plain data.

use crate::gemm::{Distribution, Pin, Scale, SeedSource, SplitK};
use crate::layout::{DType, Layout};
use crate::plan::{Scalar, ScalarParameter};
use crate::sketch::operator::axis::{AxisLayout, WRONG_LENGTH};
use crate::sketch::operator::{Direction, OP, SCALE, Sketch, SketchKind};
use crate::{Error, Result};

/// A dense operator along an axis of a tensor, checked. Seed and scale are no part of it: a launch takes them as
/// scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DenseProblem {
    pub(super) entries: Distribution,
    pub(super) tag: u32,
    pub(super) direction: Direction,
    /// Extents of the axis in operand and result.
    pub(super) extents: [usize; 2],
    pub(super) axis: usize,
    pub(super) x: Layout,
    pub(super) dtype: DType,
    /// Whether entries are scaled.
    pub(super) scale: Scale,
    pub(super) pin: Pin,
    /// Number of splits of k.
    pub(super) split: SplitK,
    /// Where the kernel finds the seed.
    pub(super) seed: SeedSource,
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
        let extents @ [from, to] = direction.lengths(sketch.shape());
        if AxisLayout::new(x, axis, to)?.extents[0] != from {
            return Err(Error::shapes(OP, WRONG_LENGTH, x.shape(), &sketch.shape()));
        }
        if x.is_empty() || to == 0 {
            let rule = "the operand must have elements";
            return Err(Error::shapes(OP, rule, x.shape(), &sketch.shape()));
        }
        let scale = if sketch.scale_f32() == 1.0 { Scale::One } else { Scale::Alpha };
        let (tag, x) = (sketch.tag(), x.in_window(dtype));
        Ok(Self {
            entries,
            tag,
            direction,
            extents,
            axis,
            x,
            dtype,
            scale,
            pin: Pin::Free,
            split: SplitK::Auto,
            seed: SeedSource::Scalars,
        })
    }

    /// The same problem, restricted to a kernel of the matrix product.
    pub(in crate::sketch) fn pinned(self, pin: Pin) -> Self {
        Self { pin, ..self }
    }

    /// The same problem with the seed from another place.
    #[must_use]
    pub fn seeded(self, seed: SeedSource) -> Self {
        Self { seed, ..self }
    }

    /// The scalars that a launch takes: the seed unless a tensor holds it, and the scale unless it is 1.
    pub(super) fn scalars(&self) -> Vec<ScalarParameter> {
        let mut scalars = Sketch::scalars(self.seed);
        scalars.retain(|scalar| *scalar != SCALE || self.scale == Scale::Alpha);
        scalars
    }

    /// The values of these scalars for the operator.
    pub(super) fn numbers(&self, sketch: &Sketch) -> Vec<Scalar> {
        let mut numbers = sketch.numbers(self.seed);
        numbers.truncate(self.scalars().len());
        numbers
    }
}
