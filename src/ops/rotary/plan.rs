//! The plan of a rotation: one step, or one for each window.

use super::kernel::LANES;
use super::problem::{RotaryDims, RotaryProblem};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::Needs;
use crate::layout::{DType, Layout};
use crate::ops::windows::JOINS;
use crate::plan::{CutAxes, Dims, Draft, Flops, InWindows, Joins, NewStep, Operand, Plan, ScalarParameter};
use std::mem::offset_of;
use std::ops::Range;

/// The operations of a pair: four products, a sum and a difference.
const FLOPS_OF_PAIR: f64 = 6.0;

impl InWindows for RotaryProblem {
    const JOINS: Joins = JOINS;

    /// The axes before the positions. An axis along which x repeats its elements is not cut, so that the order of axes
    /// stays the same.
    fn cut_axes(&self) -> Result<CutAxes> {
        let shape = self.a.shape();
        let extents: Vec<usize> = self.cut().map(|axis| shape[axis]).collect();
        Ok(CutAxes { whole: Some(shape.len() - 2), ..CutAxes::of(&extents, self.operands()?) })
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        let part = Self::new(self.pass, self.of, &layouts[0], self.dtype)?;
        // If a tensor has the position, it is the last operand.
        layouts.get(3).map_or(Ok(part), |at| part.at_position(at))
    }

    /// One step, or one for each window. The kernel depends on the pairs, the type, and whether rows are whole vectors.
    ///
    /// Operands: x, the result, the table, and the tensor of the first position, if there is one. Otherwise the first position is a
    /// scalar. If the table has too few positions after it, the last ones are taken.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let op = self.pass.op();
        let start = [ScalarParameter::u32("start")];
        let mut draft = Draft::new(op, if self.at.is_some() { &[] } else { &start }, caps);
        let mut args = draft.operands(&self.operands()?);
        let d = self.dims();
        // The rows of the table that are read.
        let read = Layout::line((self.of.positions - d.last as usize) * self.of.rotary_dims);
        args[2].0 = args[2].0.touched_like(read);
        let dims = Dims::of(&d);
        let dims = if self.at.is_some() { dims } else { dims.scalar(offset_of!(RotaryDims, start), 0) };
        draft.step(NewStep {
            tile: format!("{LANES} invocations, {} elements each, {}", 8 * self.quads(), self.dtype),
            blocks: u64::from(d.units.div_ceil(LANES)),
            dims,
            flops: Flops::of_f32(FLOPS_OF_PAIR * f64::from(self.rows()) * f64::from(d.pairs)),
            ..NewStep::of(self.kernel(caps), Needs::of(LANES, 0), &args)
        })?;
        Ok(draft.finish())
    }
}

impl RotaryProblem {
    /// The axes along which windows are cut.
    fn cut(&self) -> impl Iterator<Item = usize> {
        let is_cut = |axis: &usize| self.a.shape()[*axis] == 1 || self.a.strides()[*axis] > 0;
        (0..self.a.rank() - 2).filter(is_cut)
    }

    /// X, the result, the table and, if a tensor has it, the position.
    fn operands(&self) -> Result<Vec<Operand>> {
        let order = Self::memory_order(&self.a);
        let place_of = |axis: usize| order.iter().position(|&other| other == axis);
        let mut operands = vec![
            Operand::read("x", self.dtype, self.a).along(self.cut().map(Some)),
            Operand::written("the result", self.dtype, self.c).along(self.cut().map(place_of)),
            Operand::read("the table", DType::F32, self.of.layout(self.pass.op())?).whole(),
        ];
        operands.extend(self.at.map(|at| Operand::read("the position", DType::I32, at).whole()));
        Ok(operands)
    }
}
