//! The plan of a rotation: one step, or one for each window.

use super::kernel::LANES;
use super::problem::{RotaryDims, RotaryProblem};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::Needs;
use crate::layout::{DType, Layout};
use crate::ops::windows::JOINS;
use crate::plan::{
    Access, CutAxes, CutOperand, Dims, Draft, Flops, Form, InWindows, NewStep, Plan, Problem,
    ScalarParameter, Time, plan_in_windows,
};
use std::mem::offset_of;
use std::ops::Range;

/// The operations of a pair: four products, a sum and a difference.
const FLOPS_OF_PAIR: f64 = 6.0;

impl Problem for RotaryProblem {
    /// One step, or one for each window. The kernel depends on the pairs, the type, and whether rows are whole vectors.
    ///
    /// Operands: x, the result, the table, and the tensor of the first position, if there is one. Otherwise the first position is a
    /// scalar. If the table has too few positions after it, the last ones are taken.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        plan_in_windows(self, caps, JOINS)
    }
}

impl InWindows for RotaryProblem {
    /// The axes before the positions. An axis along which x repeats its elements is not cut, so that the order of axes
    /// stays the same.
    fn cut_axes(&self) -> Result<CutAxes> {
        let (op, shape) = (self.pass.op(), self.a.shape());
        let order = Self::memory_order(&self.a);
        let extents: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
        let is_cut = |axis: &usize| shape[*axis] == 1 || self.a.strides()[*axis] > 0;
        let axes: Vec<usize> = (0..shape.len() - 2).filter(is_cut).collect();
        let of_c = axes.iter().map(|axis| order.iter().position(|other| other == axis)).collect();
        let mut operands = vec![
            CutOperand::new(Form::View, self.a, self.dtype, axes.iter().copied().map(Some).collect()),
            CutOperand::new(Form::Dense, Layout::contiguous(op, &extents)?, self.dtype, of_c),
            CutOperand::whole(self.of.layout(op)?, DType::F32, axes.len()),
        ];
        operands.extend(self.at.map(|at| CutOperand::whole(at, DType::I32, axes.len())));
        Ok(CutAxes {
            extents: axes.iter().map(|&axis| shape[axis]).collect(),
            joined: 0,
            operands,
            whole: Some(shape.len() - 2),
        })
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        let part = Self::new(self.pass, self.of, &layouts[0], self.dtype)?;
        // If a tensor has the position, it is the last operand.
        layouts.get(3).map_or(Ok(part), |at| part.at_position(at))
    }

    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let op = self.pass.op();
        let start = [ScalarParameter::u32("start")];
        let mut draft = Draft::new(op, if self.at.is_some() { &[] } else { &start }, caps);
        let a = draft.operand("x", self.dtype, self.a, Access::Read);
        let c = Layout::contiguous(op, &[self.a.len()])?;
        let c = draft.operand("the result", self.dtype, c, Access::Write);
        let table = draft.operand("the table", DType::F32, self.of.layout(op)?, Access::Read);
        let d = self.dims();
        let read = Layout::contiguous(op, &[(self.of.positions - d.last as usize) * self.of.rotary_dims])?;
        let mut args = vec![(a, Access::Read), (c, Access::Write), (table.touched_like(read), Access::Read)];
        let mut dims = Dims::of(&d);
        match self.at {
            Some(at) => {
                args.push((draft.operand("the position", DType::I32, at, Access::Read), Access::Read));
            }
            None => dims = dims.scalar(offset_of!(RotaryDims, start), 0),
        }
        draft.step(NewStep {
            kernel: self.kernel(caps),
            tile: format!("{LANES} invocations, {} elements each, {}", 8 * self.quads(), self.dtype),
            needs: Needs {
                bindings: if self.at.is_some() { 4 } else { 3 },
                invocations: LANES,
                workgroup_bytes: 0,
            },
            blocks: u64::from(d.units.div_ceil(LANES)),
            dims,
            args: &args,
            flops: Flops::of_f32(FLOPS_OF_PAIR * f64::from(self.rows()) * f64::from(d.pairs)),
            time: Time::Roofline,
        })?;
        Ok(draft.finish())
    }
}
