//! The plan of a cross-entropy: one step over the logits, and sums of targets and losses in a fixed order. Logits that are larger
//! than a binding are cut into windows of rows (`windows.rs`).

use super::kernel::Form;
use super::problem::{CrossEntropyDims, CrossEntropyProblem, OP, Rows};
use super::step::Regions;
use crate::caps::Caps;
use crate::layout::{DType, Layout};
use crate::ops::loss::total::{Summands, TotalDims, total_step};
use crate::plan::{Access, Draft, Plan, Region, ScalarParameter};
use crate::{Error, Result};
use std::mem::offset_of;

/// The scalars of a call, in this order.
const SCALARS: [ScalarParameter; 4] = [
    ScalarParameter::f32("kept"),
    ScalarParameter::f32("spread"),
    ScalarParameter::f32("g"),
    ScalarParameter::u32("ignored"),
];

impl CrossEntropyProblem {
    /// The plan for rows that fit into a binding.
    pub(super) fn of_one(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(OP, &SCALARS, caps);
        let [loss, log_sums, gradient, logits, targets, weight, upstream] = draft.regions(self.operands());
        let (Some(loss), Some(log_sums), Some(logits), Some(targets)) = (loss, log_sums, logits, targets)
        else {
            return Err(Error::device("a cross-entropy has logits and targets"));
        };
        let mut one = draft.constant(&[1.0f32.to_bits()])?;
        one.dtype = DType::F32;
        let dims = self.dims(caps);
        let counted = match self.of {
            _ if !self.counts_targets() => None,
            Rows::All => Some(self.count(&mut draft, [targets, weight.unwrap_or(one)], &dims)?),
            Rows::OfWindow(_) => {
                let layout = Layout::contiguous(OP, &[1])?;
                Some(draft.operand("the sum of the weights", DType::F32, layout, Access::Read))
            }
        };
        let regions = Regions { logits, targets, weight, upstream, counted, one, loss, log_sums, gradient };
        let bindings = if gradient.is_some() { 8 } else { 7 };
        let losses = if bindings > caps.limits.storage_bindings {
            self.with_few_bindings(&mut draft, &regions, dims)?
        } else {
            self.with_all_bindings(&mut draft, &regions, &dims)?
        };
        if self.is_reduced() {
            let dims = TotalDims { count: dims.rows, factor: self.factor(), ..TotalDims::default() };
            let operands = [losses, counted.unwrap_or(one)];
            total_step(&mut draft, Summands::Losses, operands, loss, dims, |dims| dims)?;
        }
        Ok(draft.finish())
    }

    /// One step that computes everything. Returns the losses of the rows.
    fn with_all_bindings(
        &self,
        draft: &mut Draft<'_>,
        regions: &Regions,
        dims: &CrossEntropyDims,
    ) -> Result<Region> {
        let [_, rows] = self.sizes();
        let losses = if self.is_reduced() { draft.temporary(&[rows], DType::F32)? } else { regions.loss };
        let or_one = |region: Option<Region>| region.unwrap_or(regions.one);
        let Regions { logits, targets, weight, upstream, counted, .. } = *regions;
        let operands = [logits, targets, or_one(weight), or_one(upstream), or_one(counted)];
        let results = [Some(losses), Some(regions.log_sums), regions.gradient].into_iter().flatten();
        self.step(draft, Form::Whole, &operands, &results.collect::<Vec<_>>(), dims)?;
        Ok(losses)
    }

    /// Adds the step that sums the weights of the targets. Returns the sum.
    pub(super) fn count(
        &self,
        draft: &mut Draft<'_>,
        operands: [Region; 2],
        dims: &CrossEntropyDims,
    ) -> Result<Region> {
        let counted = draft.temporary(&[1], DType::F32)?;
        let dims = TotalDims {
            count: dims.rows,
            factor: 1.0,
            target_offset: dims.target_offset,
            weight_offset: dims.weight_offset,
            weight_stride: dims.weight_stride,
            classes: dims.length,
            ignores: dims.ignores,
            ..TotalDims::default()
        };
        total_step(draft, Summands::ClassWeights, operands, counted, dims, |dims| {
            dims.scalar(offset_of!(TotalDims, ignored), 3)
        })?;
        Ok(counted)
    }
}
