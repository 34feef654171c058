//! The step of a cross-entropy over the logits, and the regions of a plan.

use super::kernel::Form;
use super::problem::{CrossEntropyDims, CrossEntropyProblem, TargetKind};
use crate::Result;
use crate::kernel::{self, Needs};
use crate::ops::loss::reduction::LossGradient;
use crate::ops::loss::total::LANES;
use crate::ops::subgroups::shared_bytes;
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Region};
use std::mem::offset_of;

/// The regions of a plan.
pub(super) struct Regions {
    pub(super) logits: Region,
    pub(super) targets: Region,
    pub(super) weight: Option<Region>,
    pub(super) upstream: Option<Region>,
    /// The sum of the targets' weights, if the device adds them.
    pub(super) counted: Option<Region>,
    /// The number 1, in place of each missing operand.
    pub(super) one: Region,
    /// The result: the losses of the rows, or their mean or sum.
    pub(super) loss: Region,
    pub(super) log_sums: Region,
    pub(super) gradient: Option<Region>,
}

impl CrossEntropyProblem {
    /// Adds a step over the logits, with these operands and results.
    pub(super) fn step(
        &self,
        draft: &mut Draft<'_>,
        form: Form,
        operands: &[Region],
        results: &[Region],
        dims: &CrossEntropyDims,
    ) -> Result<()> {
        let caps = draft.caps();
        let operands = operands.iter().map(|&region| (region, Access::Read));
        let results = results.iter().map(|&region| (region, Access::Write));
        let args: Vec<(Region, Access)> = operands.chain(results).collect();
        let lanes = kernel::workgroup_size(LANES, caps);
        draft.step(NewStep {
            tile: format!("{lanes} invocations, {} a row, {}", dims.lanes, self.dtype),
            blocks: u64::from(dims.rows.div_ceil(lanes / dims.lanes)),
            dims: Dims::of(dims)
                .scalar(offset_of!(CrossEntropyDims, kept), 0)
                .scalar(offset_of!(CrossEntropyDims, spread), 1)
                .scalar(offset_of!(CrossEntropyDims, g), 2)
                .scalar(offset_of!(CrossEntropyDims, ignored), 3),
            flops: Flops::of_f32(self.logits.len() as f64 * self.flops(form)),
            ..NewStep::of(self.kernel(form, caps), Needs::of(lanes, shared_bytes(caps, LANES, 4)), &args)
        })
    }

    /// The approximate number of operations per logit.
    fn flops(&self, form: Form) -> f64 {
        let of_targets = match self.targets.0 {
            TargetKind::Classes => 6.0,
            TargetKind::Probabilities => 9.0,
        };
        match (form, self.gradient) {
            (Form::Losses, _) | (Form::Whole, LossGradient::Skipped) => 20.0 + of_targets,
            (Form::Gradient, _) | (Form::Whole, LossGradient::Computed) => 45.0 + 2.0 * of_targets,
        }
    }
}
