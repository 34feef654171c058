//! Windows of a backward pass: along the batches, and along the heads if each has its own keys. For the gradient of a bias they
//! are along the axes of the bias; if it has none of them, the gradients of the windows are added up.

use super::operands::axis_of_bias;
use super::problem::{AttentionBackward, AttentionGradientsOf};
use crate::Result;
use crate::attention::problem::{AttentionProblem, AttentionShape, OP};
use crate::caps::Caps;
use crate::layout::Layout;
use crate::ops::windows::JOINS;
use crate::plan::{CutAxes, Draft, InWindows, Joins, Plan, Region};
use std::ops::Range;

impl InWindows for AttentionBackward {
    const JOINS: Joins = JOINS;

    fn cut_axes(&self) -> Result<CutAxes> {
        let forward = &self.forward;
        let extents: [usize; 2] = [0, 1].map(|axis| forward.q.shape()[axis]);
        let bias = self.bias_gradient();
        let own = bias.map(|bias| [0, 1].map(|axis| axis_of_bias(&bias, axis)));
        // If a bias has only one of the axes batches and heads, it is not cut along the other one.
        let axes: Vec<usize> = match own {
            Some(own) if !self.adds_up(own) => {
                (0..self.most_axes()).filter(|&axis| own[axis].is_some()).collect()
            }
            _ => (0..self.most_axes()).collect(),
        };
        let cut: Vec<usize> = axes.iter().map(|&axis| extents[axis]).collect();
        let operands = self.read_operands().into_iter().chain(self.result_operands()?);
        Ok(CutAxes::of(&cut, operands.map(|operand| operand.along_these(&axes))))
    }

    fn part(&self, layouts: &[Layout], ranges: &[Range<usize>]) -> Result<Self> {
        let AttentionProblem { bias, lengths, keep, slopes, .. } = &self.forward;
        let masks = [bias, lengths, keep, slopes].into_iter().flatten().count();
        let [q, k, v, y, lse, g, others @ ..] = layouts else { return Ok(*self) };
        let of_forward: Vec<Layout> = [q, k, v].into_iter().chain(&others[..masks]).copied().collect();
        let forward = self.forward.part(&of_forward, ranges)?;
        let of_bias = || Layout::contiguous(OP, others[masks].shape());
        let of = match self.of {
            AttentionGradientsOf::Operands => AttentionGradientsOf::Operands,
            AttentionGradientsOf::Bias(_) => AttentionGradientsOf::Bias(of_bias()?),
            AttentionGradientsOf::PartOfBias(_) => AttentionGradientsOf::PartOfBias(of_bias()?),
        };
        Self::new(forward, [y, lse, g], of)
    }

    /// Three steps, or two for a bias; with windows, each window has these steps.
    ///
    /// Operands: Q, K, V, the result, the largest scores and logarithms of the sums, the gradient of the result, the bias, the key
    /// lengths, the mask of keys, the slopes; then the gradient of Q and those of K and V, or that of the bias. Missing operands
    /// are left out. Scalars: the scale.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        self.of_one(caps)
    }

    /// The gradients of the keys and those of the values.
    fn put(
        &self,
        draft: &mut Draft<'_>,
        joins: &Joins,
        part: &Self,
        [from, to]: [Region; 2],
        ranges: &[Range<usize>],
    ) -> Result<()> {
        let gradients = |of: &Self| {
            let forward = &of.forward;
            AttentionShape::of_problem(forward).gradients([&forward.q, &forward.k, &forward.v])
        };
        let ([_, dk, dv], [_, own_dk, own_dv]) = (gradients(self)?, gradients(part)?);
        for (all, own) in [(dk, own_dk), (dv, own_dv)] {
            let window =
                ranges.iter().enumerate().try_fold(all, |of, (axis, range)| of.slice(axis, range.clone()))?;
            joins.copy(draft, from.with_layout(own), to.with_layout(window))?;
        }
        Ok(())
    }
}

impl AttentionBackward {
    /// The axes along which it may be cut. Heads that share keys are computed together.
    fn most_axes(&self) -> usize {
        if self.dims.group == 1 { 2 } else { 1 }
    }
}
