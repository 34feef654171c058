//! The passes of norms, chosen from what a call asks for.

use super::units::NormUnits;
use crate::Result;
use crate::caps::Caps;
use crate::layout::DType;
use crate::ops::norm::channels::problem::{ChannelPass, ChannelProblem};
use crate::ops::norm::layouts::NormLayouts;
use crate::ops::norm::rows::problem::{NormKind, NormPass, NormProblem};
use crate::plan::{Plan, Problem, Scalar};

/// Whose statistics normalise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NormMode {
    /// The running ones of a batch norm. Other norms use the operand's own, which they do not return.
    Inference,
    /// The operand's own, which a forward pass returns.
    Training,
    /// The same, and updated running ones.
    TrainingWithRunning,
}

/// The pass of a norm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnyPass {
    Rows(NormKind, NormPass),
    Channels(&'static str, ChannelPass),
}

impl AnyPass {
    pub(super) fn forward(units: NormUnits, mode: NormMode) -> Self {
        match (units, mode) {
            (NormUnits::Rows(kind, _), NormMode::Inference) => Self::Rows(kind, NormPass::Forward),
            (NormUnits::Rows(kind, _), _) => Self::Rows(kind, NormPass::ForwardWithStatistics),
            (NormUnits::Groups(_), _) => Self::Channels("group_norm", ChannelPass::Group),
            (NormUnits::Instances, _) => Self::Channels("instance_norm", ChannelPass::Group),
            (NormUnits::Batch, mode) => Self::Channels(
                "batch_norm",
                match mode {
                    NormMode::Inference => ChannelPass::Evaluation,
                    NormMode::Training => ChannelPass::Training,
                    NormMode::TrainingWithRunning => ChannelPass::TrainingWithRunning,
                },
            ),
        }
    }

    /// The pass with the gradients of gamma and beta that are wanted.
    pub(super) fn backward(units: NormUnits, mode: NormMode, [gamma, beta]: [bool; 2]) -> Self {
        let (own, given) = if gamma || beta {
            (ChannelPass::BackwardWithGradients, ChannelPass::EvaluationBackwardWithGradients)
        } else {
            (ChannelPass::Backward, ChannelPass::EvaluationBackward)
        };
        match units {
            NormUnits::Rows(kind, _) if beta => Self::Rows(kind, NormPass::BackwardWithBoth),
            NormUnits::Rows(kind, _) if gamma => Self::Rows(kind, NormPass::BackwardWithGamma),
            NormUnits::Rows(kind, _) => Self::Rows(kind, NormPass::Backward),
            NormUnits::Groups(_) => Self::Channels("group_norm_backward", own),
            NormUnits::Instances => Self::Channels("instance_norm_backward", own),
            NormUnits::Batch if mode == NormMode::Inference => Self::Channels("batch_norm_backward", given),
            NormUnits::Batch => Self::Channels("batch_norm_backward", own),
        }
    }

    /// The number of statistics that a forward pass returns.
    pub(super) fn statistics(self) -> usize {
        match self {
            Self::Rows(_, NormPass::Forward) | Self::Channels(_, ChannelPass::Evaluation) => 0,
            Self::Rows(NormKind::Rms, _) => 1,
            Self::Rows(NormKind::Layer, _) | Self::Channels(_, ChannelPass::Group) => 2,
            Self::Channels(_, ChannelPass::TrainingWithRunning) => 5,
            Self::Channels(..) => 3,
        }
    }

    pub(super) fn is_forward(self) -> bool {
        match self {
            Self::Rows(_, pass) => pass.is_forward(),
            Self::Channels(_, pass) => !pass.is_backward(),
        }
    }

    /// The number of gradients of gamma and beta that a backward pass computes.
    pub(super) fn gradients(self) -> usize {
        match self {
            Self::Rows(_, pass) => pass.partials(),
            Self::Channels(_, pass) if pass.has_gradients() => 2,
            Self::Channels(..) => 0,
        }
    }

    /// The scalars of the plan.
    pub(super) fn scalars(self, eps: f32, momentum: f32) -> Vec<Scalar> {
        match self {
            Self::Rows(_, pass) if pass.is_forward() => vec![Scalar::F32(eps)],
            Self::Rows(..) => Vec::new(),
            Self::Channels(..) => vec![Scalar::F32(eps), Scalar::F32(momentum)],
        }
    }

    pub(super) fn problem(self, layouts: NormLayouts<'_>, groups: usize, dtype: DType) -> Result<AnyNorm> {
        Ok(match self {
            Self::Rows(kind, pass) => AnyNorm::Rows(NormProblem::new(kind, pass, layouts, dtype)?),
            Self::Channels(op, pass) => {
                AnyNorm::Channels(ChannelProblem::new(op, pass, layouts, groups, dtype)?)
            }
        })
    }
}

/// A norm of rows or of channels.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::large_enum_variant, reason = "a call makes one")]
pub(super) enum AnyNorm {
    Rows(NormProblem),
    Channels(ChannelProblem),
}

impl Problem for AnyNorm {
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        match self {
            Self::Rows(problem) => problem.plan(caps),
            Self::Channels(problem) => problem.plan(caps),
        }
    }
}
