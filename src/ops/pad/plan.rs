//! The plan of a padding: one step, or one for each window.

use super::problem::{OP, PadDims, PadProblem, padded_shape};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::Kernel;
use crate::layout::Layout;
use crate::ops::packing::{per_word, plan_of_quads};
use crate::ops::windows::JOINS;
use crate::plan::{CutAxes, Dims, Draft, Flops, Form, InWindows, Joins, Operand, Plan, ScalarParameter};
use std::mem::offset_of;
use std::ops::Range;

impl InWindows for PadProblem {
    const JOINS: Joins = JOINS;

    fn cut_axes(&self) -> Result<CutAxes> {
        let operands = self.operands()?;
        Ok(CutAxes::of(&padded_shape(&self.a, &self.padding[..self.a.rank()])?, operands))
    }

    /// The elements of A that lie in the window of C; there may be none.
    fn narrowed(&self, operand: &Operand, ranges: &[Range<usize>]) -> Result<Layout> {
        if operand.form == Form::Dense {
            return operand.narrowed(ranges);
        }
        let own: Vec<Range<usize>> =
            ranges.iter().enumerate().map(|(axis, range)| self.within(axis, range)).collect();
        operand.narrowed(&own)
    }

    fn part(&self, layouts: &[Layout], ranges: &[Range<usize>]) -> Result<Self> {
        let padding = ranges.iter().enumerate().map(|(axis, range)| {
            let (own, length) = (self.within(axis, range), range.len());
            let before = (self.padding[axis].0 + own.start).saturating_sub(range.start).min(length);
            (before, length - before - own.len())
        });
        Self::of_any(&layouts[1], &padding.collect::<Vec<_>>(), self.dtype)
    }

    /// One step, or one for each window.
    ///
    /// Operands: C, A. Scalars: the bits of the value.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(OP, &[ScalarParameter::u32("value")], caps);
        let args = draft.operands(&self.operands()?);
        let dims = Dims::of(&self.dims).scalar(offset_of!(PadDims, value), 0);
        let result = (self.dims.count, self.dtype);
        plan_of_quads(draft, &args, self.kernel(caps), result, dims, Flops::default())
    }
}

impl PadProblem {
    /// C and A.
    fn operands(&self) -> Result<Vec<Operand>> {
        let c = Layout::contiguous(OP, &padded_shape(&self.a, &self.padding[..self.a.rank()])?)?;
        Ok(vec![Operand::written("the output", self.dtype, c), Operand::read("a", self.dtype, self.a)])
    }

    /// The range of indices of A along an axis that lies in a range of C.
    fn within(&self, axis: usize, range: &Range<usize>) -> Range<usize> {
        let (before, extent) = (self.padding[axis].0, self.a.shape()[axis]);
        let start = range.start.saturating_sub(before).min(extent);
        start..range.end.saturating_sub(before).clamp(start, extent)
    }

    /// The kernel with the parameters of the type.
    fn kernel(&self, caps: &Caps) -> Kernel {
        Kernel::new("ops/pad")
            .dims::<PadDims>(caps)
            .param("PER_WORD", per_word(self.dtype))
            .param("WHOLE", self.dims.rank == 1 || self.dims.axes[0][0].is_multiple_of(4))
    }
}
