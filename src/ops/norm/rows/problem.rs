//! A checked norm of rows, as plain data.

use crate::layout::{Axes, DType, Layout, MAX_RANK, dim};
use crate::ops::vectors::{Moves, per_vector, quads};
use crate::{Error, Result};

/// Invocations per workgroup, if the device allows them.
pub(super) const LANES: u32 = 256;

/// The uniform of `shaders/ops/norm.wgsl`, `norm_long.wgsl`, `norm_backward.wgsl` and `norm_backward_long.wgsl`
/// (`norm_dims.wgsl`), in elements. The call passes `eps`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct NormDims {
    pub axes: [[u32; 4]; MAX_RANK - 1],
    pub a_offset: u32,
    pub b_offset: u32,
    pub a_stride: u32,
    pub b_stride: u32,
    pub gamma_offset: u32,
    pub beta_offset: u32,
    pub length: u32,
    pub rows: u32,
    pub rank: u32,
    pub lanes: u32,
    pub each: u32,
    pub eps: u32,
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

/// The layouts of a norm's operands. Each normalised row is the last axis of `a` and `b`.
#[derive(Clone, Copy, Debug)]
pub struct NormLayouts<'a> {
    /// The operand.
    pub a: &'a Layout,
    /// In a forward pass the residual, which is added to `a` first; in a backward pass the gradient of the result.
    pub b: Option<&'a Layout>,
    /// The weights of a row, contiguous.
    pub gamma: Option<&'a Layout>,
    /// The offsets of a row, contiguous.
    pub beta: Option<&'a Layout>,
}

/// A checked norm of rows: all operands have the same shape, gamma and beta the length of a row, every size is below
/// $2^{31}$, and there is at least one element. Results are contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NormProblem {
    pub(super) kind: NormKind,
    pub(super) pass: NormPass,
    pub(super) dims: NormDims,
    pub(super) dtype: DType,
    pub(super) has_b: bool,
    pub(super) has_gamma: bool,
    pub(super) has_beta: bool,
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
        let second = b.unwrap_or(a);
        let axes = Axes::of(&a.shape()[..last], |axis| [a.step(axis), second.step(axis)]);
        let offset = |of: Option<&Layout>| of.map_or(0, |of| of.offset_in_window(dtype));
        let mut dims = NormDims {
            a_offset: a.offset_in_window(dtype),
            b_offset: offset(b),
            a_stride: dim(op, a.step(last))?,
            b_stride: dim(op, second.step(last))?,
            gamma_offset: offset(gamma),
            beta_offset: offset(beta),
            length: dim(op, length)?,
            rows: dim(op, a.len() / length)?,
            ..NormDims::default()
        };
        dim(op, a.len())?;
        dims.rank = axes.put(op, &mut dims.axes)?;
        let (has_gamma, has_beta) = (gamma.is_some(), beta.is_some() && pass.is_forward());
        Ok(Self { kind, pass, dims, dtype, has_b: b.is_some(), has_gamma, has_beta })
    }

    /// The shader's uniform.
    #[must_use]
    pub fn dims(&self) -> &NormDims {
        &self.dims
    }

    /// How the kernel moves elements: in vectors if all rows, and gamma and beta, are contiguous and aligned, and consist of whole
    /// vectors.
    pub(super) fn moves(&self) -> Moves {
        let d = &self.dims;
        let rows = d.axes[..d.rank as usize].iter().flat_map(|&[_, a, b, _]| [a, b]);
        let starts = rows.chain([d.a_offset, d.b_offset, d.gamma_offset, d.beta_offset, d.length]);
        // The stride of a row of one element does not matter.
        let strides = if d.length > 1 { [d.a_stride, d.b_stride] } else { [0, 0] };
        Moves::of(self.dtype, strides, starts)
    }

    /// The number of groups of four elements that a lane loads together.
    pub(super) fn quads(&self) -> u32 {
        match self.moves() {
            Moves::Elements => 1,
            Moves::Vectors => quads(self.dtype),
        }
    }

    /// The number of elements that a lane loads together.
    pub(super) fn width(&self) -> u32 {
        match self.moves() {
            Moves::Elements => 4,
            Moves::Vectors => per_vector(self.dtype),
        }
    }

    /// The layouts of A and B, with merged axes.
    pub(super) fn layouts(&self) -> Result<[Layout; 2]> {
        let d = &self.dims;
        let axes = d.axes[..d.rank as usize].iter().rev();
        let of = |at: usize, stride: u32, offset: u32| {
            let rows = axes.clone().map(|axis| [axis[0], axis[at]]);
            let all = rows.chain([[d.length, stride]]).map(|axis| axis.map(|size| size as usize));
            let (shape, strides): (Vec<usize>, Vec<usize>) = all.map(|[n, stride]| (n, stride)).unzip();
            Layout::new(self.op(), &shape, &strides, offset as usize, usize::MAX)
        };
        Ok([of(1, d.a_stride, d.a_offset)?, of(2, d.b_stride, d.b_offset)?])
    }

    /// The layout of gamma or beta.
    pub(super) fn weights(&self, offset: u32) -> Result<Layout> {
        Layout::new(self.op(), &[self.dims.length as usize], &[1], offset as usize, usize::MAX)
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
    pub(super) fn is_forward(self) -> bool {
        matches!(self, Self::Forward | Self::ForwardWithStatistics)
    }

    /// The number of gradients of gamma and beta.
    pub(super) fn partials(self) -> usize {
        match self {
            Self::Forward | Self::ForwardWithStatistics | Self::Backward => 0,
            Self::BackwardWithGamma => 1,
            Self::BackwardWithBoth => 2,
        }
    }
}
