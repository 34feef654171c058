//! A dense operator along an axis: what to compute, as plain data.

use crate::gemm::{Distribution, Pin, Scale};
use crate::layout::{DType, Layout};
use crate::plan::{Scalar, ScalarParameter};
use crate::sketch::along::Along;
use crate::sketch::apply::SCALARS;
use crate::sketch::apply::Way;
use crate::sketch::operator::{OP, Sketch, SketchKind};
use crate::sketch::philox::halves;
use crate::{Error, Result};

/// A dense operator along an axis of a tensor, checked. The seed and the scale are scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DenseProblem {
    pub(super) entries: Distribution,
    pub(super) tag: u32,
    pub(super) way: Way,
    /// The extents of the axis: of operand and result.
    pub(super) extents: [usize; 2],
    pub(super) axis: usize,
    pub(super) x: Layout,
    pub(super) dtype: DType,
    /// Whether there is a scale.
    pub(super) scale: Scale,
    pub(super) pin: Pin,
}

impl DenseProblem {
    /// `sketch`, whose entries are all drawn, along an axis of `x`, a view of `dtype` elements. The result is row-major without
    /// gaps, and not empty.
    ///
    /// # Errors
    /// [`Error::Input`] if the operator has another kind; [`Error::Shape`] if there is no such axis, if it is not of the
    /// operator's extent, or if there is nothing to compute.
    pub fn new(sketch: &Sketch, way: Way, x: &Layout, axis: usize, dtype: DType) -> Result<Self> {
        let entries = match sketch.kind() {
            SketchKind::Sign => Distribution::Sign,
            SketchKind::Uniform => Distribution::Uniform,
            SketchKind::Gaussian => Distribution::Normal,
            _ => return Err(Error::input(OP, "the operator's entries are not all drawn")),
        };
        let [d, n] = sketch.shape();
        let extents @ [from, to] = if way == Way::Forward { [n, d] } else { [d, n] };
        if Along::of(x, axis, to)?.extents[0] != from || x.is_empty() || to == 0 {
            let rule = "the axis must be as long as what the operator is applied to, and not empty";
            return Err(Error::shapes(OP, rule, x.shape(), &sketch.shape()));
        }
        let scale = if scale(sketch) == 1.0 { Scale::One } else { Scale::Alpha };
        let (tag, x) = (sketch.tag(), x.in_window(dtype));
        Ok(Self { entries, tag, way, extents, axis, x, dtype, scale, pin: Pin::Free })
    }

    /// What numbers a call passes: the seed, and the scale unless it is 1.
    pub(super) fn scalars(&self) -> &'static [ScalarParameter] {
        if self.scale == Scale::One { &SCALARS[..2] } else { &SCALARS }
    }

    /// These numbers of the operator.
    pub(super) fn numbers(&self, sketch: &Sketch) -> Vec<Scalar> {
        let [low, high] = halves(sketch.seed()).map(Scalar::from);
        [low, high, scale(sketch).into()][..self.scalars().len()].to_vec()
    }
}

/// The operator's scale, rounded once.
fn scale(sketch: &Sketch) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "it is rounded once")]
    let scale = sketch.scale() as f32;
    scale
}
