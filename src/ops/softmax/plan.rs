//! The plan of a softmax or of its gradient: one step, or one for each window.

use super::kernel::LANES;
use super::problem::{SoftmaxDims, SoftmaxProblem};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::{self, Needs};
use crate::layout::Layout;
use crate::ops::lines::Across;
use crate::ops::subgroups::subgroup;
use crate::ops::windows::JOINS;
use crate::plan::{CutAxes, Dims, Draft, Flops, InWindows, Joins, NewStep, Operand, Plan, ScalarParameter};
use std::mem::offset_of;
use std::ops::Range;

/// The scale of x, as a number that a call passes.
const SCALE: ScalarParameter = ScalarParameter::f32("scale");

impl InWindows for SoftmaxProblem {
    const JOINS: Joins = JOINS;

    fn cut_axes(&self) -> Result<CutAxes> {
        Ok(CutAxes::except(self.axis, self.a.shape(), self.operands()))
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        Self::new(self.function, &layouts[0], layouts.get(2), self.axis, self.dtype)
    }

    /// One step, or one for each window. The kernel depends on whether neighbours lie along the axis, and has variants for
    /// contiguous, aligned rows.
    ///
    /// Operands: x, the result and, if there is one, the mask; or y, the result and the gradient of y. Scalars: the scale of x,
    /// unless it is a gradient.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let (op, is_backward) = (self.function.op(), self.function.is_backward());
        let scalars: &[ScalarParameter] = if is_backward { &[] } else { &[SCALE] };
        let mut draft = Draft::new(op, scalars, caps);
        let most = kernel::workgroup_size(LANES, caps);
        let (d, invocations, per_block) = self.dims_on(most, caps);
        let args = draft.operands(&self.operands());
        let dims = Dims::of(&d);
        let dims = if is_backward { dims } else { dims.scalar(offset_of!(SoftmaxDims, scale), 0) };
        let (workgroup_bytes, shared_by) = match self.lines.across {
            Across::Row => {
                let words = if is_backward { 1 } else { 2 };
                ((4 * words * most / subgroup(caps, LANES).unwrap_or(1)).next_multiple_of(16), "a row")
            }
            Across::Columns => (self.columns_bytes(caps), "columns"),
        };
        let members = match self.lines.across {
            Across::Row => u64::from(d.rows),
            Across::Columns => u64::from(d.rows) * u64::from(d.lanes),
        };
        draft.step(NewStep {
            tile: format!("{invocations} invocations, {} {shared_by}, {}", d.lanes, self.dtype),
            blocks: members.div_ceil(per_block.into()),
            dims,
            flops: Flops::of_f32(self.a.len() as f64 * self.function.flops()),
            ..NewStep::of(self.kernel(caps), Needs::of(invocations, workgroup_bytes), &args)
        })?;
        Ok(draft.finish())
    }
}

impl SoftmaxProblem {
    /// The operand, the result, and the mask or the gradient.
    fn operands(&self) -> Vec<Operand> {
        let mut operands = vec![
            Operand::read("the operand", self.dtype, self.a),
            Operand::written("the result", self.dtype, self.a.dense()),
        ];
        let name = if self.function.is_backward() { "the gradient" } else { "the mask" };
        operands.extend(self.m.map(|m| Operand::read(name, self.dtype, m)));
        operands
    }

    /// The uniform, the number of invocations of a workgroup (at most `most`), and its number of rows or groups of
    /// columns.
    fn dims_on(&self, most: u32, caps: &Caps) -> (SoftmaxDims, u32, u32) {
        let d = self.dims();
        let width = 4 * self.quads(caps);
        match self.lines.across {
            Across::Row => {
                let lanes = self.lanes(caps);
                (SoftmaxDims { lanes, ..d }, most, most / lanes)
            }
            Across::Columns => {
                let lanes = self.lines.columns().div_ceil(width);
                let columns = self.columns_on(caps);
                let dims = SoftmaxDims { lanes, parts: columns.parts, ..d };
                (dims, columns.invocations(), columns.groups)
            }
        }
    }
}
