//! A checked norm of channels, as plain data.

use crate::kernel::shader_dims;
use crate::layout::{DType, Layout, dim};
use crate::ops::norm::layouts::NormLayouts;
use crate::ops::vectors::Moves;
use crate::{Error, Result};

/// Invocations per workgroup, if the device allows them.
pub(super) const LANES: u32 = 256;
/// Groups of four elements of an operand that an invocation holds.
pub(super) const HELD_QUADS: u32 = 8;

shader_dims! {
    /// The uniform of the shaders `shaders/ops/channel_*.wgsl` (`channel_dims.wgsl`), in elements. The call passes `eps` and
    /// `momentum`.
    pub struct ChannelDims {
        outer: u32,
        inner: u32,
        channels: u32,
        of_group: u32,
        /// the first element, then the strides of the outer axis, the inner one and the channels
        a: [u32; 4],
        /// of B: the gradient of the result
        b: [u32; 4],
        gamma_offset: u32,
        beta_offset: u32,
        /// of an outer index
        chunks: u32,
        /// rows of a chunk
        each: u32,
        /// invocations along the channels: a power of two, at most LANES
        lanes: u32,
        eps: u32 as f32,
        /// the weight of a new running statistic
        momentum: u32 as f32,
        /// channels of a workgroup that computes the statistics too
        span: u32,
    }
}

/// The pass of a norm of channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChannelPass {
    /// The norm by the operand's own statistics; also returns these.
    Group,
    /// The same for a batch; also returns the variance.
    Training,
    /// The same; also returns updated running statistics.
    TrainingWithRunning,
    /// The norm by given means and variances.
    Evaluation,
    /// The gradient of the operand of [`Group`](Self::Group) or [`Training`](Self::Training).
    Backward,
    /// The same, and the gradients of gamma and beta.
    BackwardWithGradients,
    /// The gradient of the operand of [`Evaluation`](Self::Evaluation).
    EvaluationBackward,
    /// The same, and the gradients of gamma and beta.
    EvaluationBackwardWithGradients,
}

/// A checked norm of channels: the operands have the same shape (outer, inner, channels), the groups divide the channels, and
/// every size is below $2^{31}$. Results are contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChannelProblem {
    pub(super) op: &'static str,
    pub(super) pass: ChannelPass,
    pub(super) dims: ChannelDims,
    pub(super) dtype: DType,
    pub(super) has_gamma: bool,
    pub(super) has_beta: bool,
}

impl ChannelProblem {
    /// A norm of `groups` groups of channels, of `dtype` elements.
    ///
    /// # Errors
    /// [`Error::Shape`] if `a` does not have three axes, or no element, an operand has another shape, the groups do not divide
    /// the channels, or gamma or beta is not one contiguous axis of the channels; [`Error::Limit`] if a size is $2^{31}$ or
    /// more; [`Error::Input`] if a backward pass has no gradient.
    pub fn new(
        op: &'static str,
        pass: ChannelPass,
        layouts: NormLayouts<'_>,
        groups: usize,
        dtype: DType,
    ) -> Result<Self> {
        let NormLayouts { a, b, gamma, beta } = layouts;
        let &[outer, inner, channels] = a.shape() else {
            return Err(Error::shape(op, "the operand must have three axes", a.shape()));
        };
        if a.is_empty() {
            return Err(Error::shape(op, "the operand must have elements", a.shape()));
        }
        if groups == 0 || !channels.is_multiple_of(groups) {
            let rule = "the number of groups must divide the channels";
            return Err(Error::shapes(op, rule, a.shape(), &[groups]));
        }
        if pass.is_of_batch() && (outer != 1 || groups != channels) {
            let rule = "a batch must have one outer index and a channel in each group";
            return Err(Error::shapes(op, rule, a.shape(), &[groups]));
        }
        if let Some(b) = b.filter(|b| b.shape() != a.shape()) {
            return Err(Error::shapes(op, "both operands must have the same shape", a.shape(), b.shape()));
        }
        if b.is_none() && pass.is_backward() {
            return Err(Error::input(format!("{op}: the gradient"), "a backward pass needs one"));
        }
        for weights in [gamma, beta].into_iter().flatten() {
            if weights.shape() != [channels] || !weights.is_contiguous() {
                let rule = "gamma and beta must have as many elements as there are channels";
                return Err(Error::shapes(op, rule, weights.shape(), &[channels]));
            }
        }
        let places = |of: &Layout| -> Result<[u32; 4]> {
            let step = |axis: usize| dim(op, of.step(axis));
            Ok([of.offset_in_window(dtype), step(0)?, step(1)?, step(2)?])
        };
        let offset = |of: Option<&Layout>| of.map_or(0, |of| of.offset_in_window(dtype));
        dim(op, a.len())?;
        let dims = ChannelDims {
            outer: dim(op, outer)?,
            inner: dim(op, inner)?,
            channels: dim(op, channels)?,
            of_group: dim(op, channels / groups)?,
            a: places(a)?,
            b: b.map_or(Ok([0; 4]), places)?,
            gamma_offset: offset(gamma),
            beta_offset: offset(beta),
            ..ChannelDims::default()
        };
        let has_beta = beta.is_some() && !pass.is_backward();
        Ok(Self { op, pass, dims, dtype, has_gamma: gamma.is_some(), has_beta })
    }

    /// How the kernels move elements: in vectors if the channels of all rows are contiguous and aligned.
    pub(super) fn moves(&self) -> Moves {
        let d = &self.dims;
        let operands = if self.pass.is_backward() { vec![d.a, d.b] } else { vec![d.a] };
        let strides = operands.iter().map(|of| if d.channels > 1 { of[3] } else { 0 });
        let starts = operands.iter().flat_map(|&[offset, outer, inner, _]| [offset, outer, inner]);
        Moves::of(self.dtype, strides, starts.chain([d.channels]))
    }

    /// The number of groups of four channels that a lane loads together.
    pub(super) fn quads(&self) -> u32 {
        self.moves().quads(self.dtype)
    }

    /// The number of rows that a lane holds together.
    pub(super) fn turn(&self) -> u32 {
        HELD_QUADS / self.quads()
    }

    /// The number of units.
    pub(super) fn units(&self) -> usize {
        self.dims.outer as usize * (self.dims.channels / self.dims.of_group) as usize
    }

    /// The layout of an operand.
    pub(super) fn layout(&self, [offset, outer, inner, stride]: [u32; 4]) -> Result<Layout> {
        let d = &self.dims;
        let shape = [d.outer, d.inner, d.channels].map(|n| n as usize);
        let strides = [outer, inner, stride].map(|n| n as usize);
        Layout::new(self.op, &shape, &strides, offset as usize, usize::MAX)
    }
}

impl ChannelPass {
    pub(in crate::ops::norm) fn is_backward(self) -> bool {
        match self {
            Self::Group | Self::Training | Self::TrainingWithRunning | Self::Evaluation => false,
            Self::Backward
            | Self::BackwardWithGradients
            | Self::EvaluationBackward
            | Self::EvaluationBackwardWithGradients => true,
        }
    }

    /// Whether the statistics are given instead of computed.
    pub(super) fn is_evaluation(self) -> bool {
        matches!(self, Self::Evaluation | Self::EvaluationBackward | Self::EvaluationBackwardWithGradients)
    }

    /// Whether there are statistics for each channel.
    fn is_of_batch(self) -> bool {
        self.is_evaluation() || matches!(self, Self::Training | Self::TrainingWithRunning)
    }

    /// Whether there are gradients of gamma and beta.
    pub(in crate::ops::norm) fn has_gradients(self) -> bool {
        matches!(self, Self::BackwardWithGradients | Self::EvaluationBackwardWithGradients)
    }
}
