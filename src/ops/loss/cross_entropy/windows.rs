//! Windows of the rows of a cross-entropy.

use super::problem::{CrossEntropyProblem, Rows};
use crate::Result;
use crate::caps::Caps;
use crate::layout::{DType, Layout};
use crate::ops::loss::reduction::LossGradient;
use crate::ops::windows::JOINS;
use crate::plan::{CutAxes, Draft, InWindows, Joins, Plan, Region};
use std::ops::Range;

impl InWindows for CrossEntropyProblem {
    const JOINS: Joins = JOINS;

    /// The axes of the rows.
    fn cut_axes(&self) -> Result<CutAxes> {
        let axes = self.logits.rank() - 1;
        Ok(CutAxes {
            whole: Some(axes),
            ..CutAxes::of(&self.logits.shape()[..axes], self.operands().into_iter().flatten())
        })
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        let results = if self.gradient == LossGradient::Computed { 3 } else { 2 };
        let operands = &layouts[results..];
        let weight = operands.get(2).filter(|_| self.weight.is_some());
        let part = Self::new(&operands[0], (self.targets.0, &operands[1]), weight, self.dtype)?;
        let of = Rows::OfWindow(self.all_rows());
        let part = Self { of, ..part.reduced(self.reduction).ignoring(self.ignored) };
        if self.gradient == LossGradient::Skipped {
            return Ok(part);
        }
        Ok(part.with_gradient(self.upstream.and(operands.last())))
    }

    /// One step computes the losses, and the gradient if the problem has one. For a mean or sum another step adds the losses.
    /// For a mean with weights or ignored rows, an earlier step adds the weights of the targets. If the device has too few
    /// storage bindings for that step, several steps with four bindings each compute the same (`few_bindings.rs`).
    ///
    /// Operands: the loss, the logarithms of the rows' sums, the gradient if there is one, the logits, the targets, the
    /// weights and the gradient with respect to the losses if there are any. Scalars: 1 - the label smoothing, the smoothing
    /// divided by the number of classes, the gradient with respect to the losses, the bits of the ignored class.
    /// One step computes the losses, and the gradient if the problem has one. For a mean or sum another step adds the losses.
    /// For a mean with weights or ignored rows, an earlier step adds the weights of the targets. If the device has too few
    /// storage bindings for that step, several steps with four bindings each compute the same (`few_bindings.rs`).
    ///
    /// Operands: the loss, the logarithms of the rows' sums, the gradient if there is one, the logits, the targets, the
    /// weights and the gradient with respect to the losses if there are any. Scalars: 1 - the label smoothing, the smoothing
    /// divided by the number of classes, the gradient with respect to the losses, the bits of the ignored class.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        self.of_one(caps)
    }

    /// The sum of the weights of all targets.
    fn before_parts(&self, draft: &mut Draft<'_>, regions: &[Region]) -> Result<Vec<Region>> {
        if !self.counts_targets() {
            return Ok(Vec::new());
        }
        let results = if self.gradient == LossGradient::Computed { 3 } else { 2 };
        let weight = match self.weight {
            Some(_) => regions[results + 2],
            None => {
                let mut one = draft.constant(&[1.0f32.to_bits()])?;
                one.dtype = DType::F32;
                one
            }
        };
        let dims = self.dims(draft.caps());
        self.count(draft, [regions[results + 1], weight], &dims).map(|counted| vec![counted])
    }
}
