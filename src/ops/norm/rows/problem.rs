//! A checked norm of rows, as plain data.

use crate::kernel::shader_dims;
use crate::layout::{Axes, DType, Layout, MAX_RANK, known, merged_together};
use crate::ops::norm::layouts::NormLayouts;
use crate::ops::vectors::Moves;
use crate::{Error, Result};

/// Invocations per workgroup, if the device allows them.
pub(super) const LANES: u32 = 256;

shader_dims! {
    /// The uniform of `shaders/ops/norm.wgsl`, `norm_long.wgsl`, `norm_backward.wgsl` and `norm_backward_long.wgsl`
    /// (`norm_dims.wgsl`), in elements. The call passes `eps`.
    pub struct NormDims {
        /// of the rows: extent, then the strides of A and B, then 0; innermost first
        axes: [[u32; 4]; MAX_RANK - 1],
        /// first elements in their bindings
        a_offset: u32,
        b_offset: u32,
        /// along a row
        a_stride: u32,
        b_stride: u32,
        gamma_offset: u32,
        beta_offset: u32,
        /// of a row
        length: u32,
        rows: u32,
        /// number of axes of the rows
        rank: u32,
        /// invocations that share a row: a power of two, at most LANES
        lanes: u32,
        /// rows that an invocation takes one after another, in a backward pass
        each: u32,
        eps: u32 as f32,
    }
}

/// The kind of norm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NormKind {
    /// Layer norm: the mean is subtracted, and the standard deviation divides.
    Layer,
    /// RMS norm: nothing is subtracted, and the root of the mean square divides.
    Rms,
}

/// The pass of a norm, and its results besides the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NormPass {
    /// The norm.
    Forward,
    /// The norm; it also stores the statistics of the rows.
    ForwardWithStatistics,
    /// The gradient of the operand.
    Backward,
    /// The gradients of the operand and of gamma.
    BackwardWithGamma,
    /// The gradients of the operand, gamma and beta.
    BackwardWithBoth,
}

/// A checked norm of rows: all operands have the same shape, gamma and beta the length of a row, every size is below
/// $2^{31}$, and there is at least one element. Results are contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NormProblem {
    pub(super) kind: NormKind,
    pub(super) pass: NormPass,
    pub(super) dtype: DType,
    /// The operands, relative to their windows. The rows of A and B are counted along merged axes.
    pub(super) a: Layout,
    pub(super) b: Option<Layout>,
    pub(super) gamma: Option<Layout>,
    pub(super) beta: Option<Layout>,
}

impl NormProblem {
    /// A norm of rows of `dtype` elements.
    ///
    /// # Errors
    /// [`Error::Shape`] if `a` has no axis or no element, an operand has another shape, or gamma or beta is not one
    /// contiguous axis of a row's length; [`Error::Limit`] if a size is $2^{31}$ or more; [`Error::Input`] if a
    /// backward pass has no gradient.
    pub fn new(kind: NormKind, pass: NormPass, layouts: NormLayouts<'_>, dtype: DType) -> Result<Self> {
        let op = kind.op(pass);
        let NormLayouts { a, b, gamma, beta } = layouts;
        let Some(last) = a.rank().checked_sub(1).filter(|_| !a.is_empty()) else {
            return Err(Error::shape(op, "the operand must have an axis and elements", a.shape()));
        };
        if let Some(b) = b.filter(|b| b.shape() != a.shape()) {
            return Err(Error::shapes(op, "both operands must have the same shape", a.shape(), b.shape()));
        }
        if b.is_none() && !pass.is_forward() {
            return Err(Error::input(format!("{op}: the gradient"), "a backward pass needs one"));
        }
        let length = a.shape()[last];
        for weights in [gamma, beta].into_iter().flatten() {
            if weights.shape() != [length] || !weights.is_contiguous() {
                let rule = "gamma and beta must have the extent of the normalised axis";
                return Err(Error::shapes(op, rule, weights.shape(), &[length]));
            }
        }
        let in_window = |of: &Layout| of.in_window(dtype);
        let merged = merged_together([a, b.unwrap_or(a)].map(in_window), 0..last);
        merged.iter().try_for_each(|of| of.check_dims(op))?;
        let [of_a, of_b] = merged;
        let beta = beta.filter(|_| pass.is_forward());
        let [gamma, beta] = [gamma, beta].map(|of| of.map(in_window));
        Ok(Self { kind, pass, dtype, a: of_a, b: b.map(|_| of_b), gamma, beta })
    }

    /// The shaders' uniform, without what depends on the device.
    pub(super) fn dims(&self) -> NormDims {
        let (a, b) = (&self.a, self.b.as_ref().unwrap_or(&self.a));
        let last = a.rank() - 1;
        let offset = |of: Option<&Layout>| of.map_or(0, |of| of.offset_in_window(self.dtype));
        let mut dims = NormDims {
            a_offset: offset(Some(a)),
            b_offset: offset(self.b.as_ref()),
            a_stride: known(a.step(last)),
            b_stride: known(b.step(last)),
            gamma_offset: offset(self.gamma.as_ref()),
            beta_offset: offset(self.beta.as_ref()),
            length: self.length(),
            rows: self.rows(),
            ..NormDims::default()
        };
        let rows = Axes::of(&a.shape()[..last], |axis| [a.step(axis), b.step(axis)]);
        dims.rank = rows.put_known(&mut dims.axes);
        dims
    }

    /// The length of a row.
    pub(super) fn length(&self) -> u32 {
        known(self.a.shape()[self.a.rank() - 1])
    }

    /// The number of rows.
    pub(super) fn rows(&self) -> u32 {
        known(self.a.len()) / self.length()
    }

    /// How the kernel moves elements: in vectors if all rows, and gamma and beta, are contiguous and aligned, and consist of whole
    /// vectors.
    pub(super) fn moves(&self) -> Moves {
        let d = self.dims();
        let rows = d.axes[..d.rank as usize].iter().flat_map(|&[_, a, b, _]| [a, b]);
        let starts = rows.chain([d.a_offset, d.b_offset, d.gamma_offset, d.beta_offset, d.length]);
        // A row of one element has no stride.
        let strides = if d.length > 1 { [d.a_stride, d.b_stride] } else { [0, 0] };
        Moves::of(self.dtype, strides, starts)
    }

    /// The number of groups of four elements that a lane loads together.
    pub(super) fn quads(&self) -> u32 {
        self.moves().quads(self.dtype)
    }

    pub(super) fn op(&self) -> &'static str {
        self.kind.op(self.pass)
    }
}

impl NormKind {
    /// The name in errors and plans.
    fn op(self, pass: NormPass) -> &'static str {
        match (self, pass.is_forward()) {
            (Self::Layer, true) => "layer_norm",
            (Self::Layer, false) => "layer_norm_backward",
            (Self::Rms, true) => "rms_norm",
            (Self::Rms, false) => "rms_norm_backward",
        }
    }
}

impl NormPass {
    /// Whether this is a forward pass.
    pub(in crate::ops::norm) fn is_forward(self) -> bool {
        matches!(self, Self::Forward | Self::ForwardWithStatistics)
    }

    /// The number of gradients of gamma and beta.
    pub(in crate::ops::norm) fn partials(self) -> usize {
        match self {
            Self::Forward | Self::ForwardWithStatistics | Self::Backward => 0,
            Self::BackwardWithGamma => 1,
            Self::BackwardWithBoth => 2,
        }
    }
}
