//! The plan of ones and zeros for ids: one step, or one for each window.

use super::problem::{OP, OneHotDims, OneHotProblem};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::Kernel;
use crate::layout::{DType, Layout};
use crate::ops::packing::plan_of_quads;
use crate::ops::windows::JOINS;
use crate::plan::{CutAxes, Dims, Draft, Flops, InWindows, Joins, Operand, Plan};
use std::ops::Range;

impl InWindows for OneHotProblem {
    const JOINS: Joins = JOINS;

    /// The axes of the ids.
    fn cut_axes(&self) -> Result<CutAxes> {
        Ok(CutAxes { whole: Some(self.ids.rank()), ..CutAxes::of(self.ids.shape(), self.operands()?) })
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        Self::new(&layouts[1], self.dims.classes as usize, self.dtype)
    }

    /// One step, or one for each window.
    ///
    /// Operands: C, the ids.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(OP, &[], caps);
        let args = draft.operands(&self.operands()?);
        let kernel = Kernel::new("ops/one_hot").dims::<OneHotDims>(caps);
        let (result, dims) = ((self.dims.count, self.dtype), Dims::of(&self.dims));
        plan_of_quads(draft, &args, kernel, result, dims, Flops::default())
    }
}

impl OneHotProblem {
    /// C and the ids.
    fn operands(&self) -> Result<Vec<Operand>> {
        let shape = [self.ids.shape(), &[self.dims.classes as usize]].concat();
        let c = Layout::contiguous(OP, &shape)?;
        Ok(vec![
            Operand::written("the output", self.dtype, c),
            Operand::read("the ids", DType::I32, self.ids),
        ])
    }
}
