//! Windows of a function of rows of multivectors: along the rows.

use super::problem::{RowFunction, RowOperandLayouts, RowProblem};
use crate::Result;
use crate::caps::Caps;
use crate::layout::Layout;
use crate::plan::{CutAxes, InWindows, Plan};
use std::ops::Range;

impl InWindows for RowProblem {
    fn cut_axes(&self) -> Result<CutAxes> {
        Ok(CutAxes {
            whole: Some(2),
            ..CutAxes::of(&self.shape()[1..2], self.listed()?.into_iter().flatten())
        })
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        let results = if self.function == RowFunction::SteerableBackward { 3 } else { 1 };
        let mut operands = layouts[results..].iter();
        let (is_product, is_backward) = (self.function.is_product(), self.function.is_backward());
        let mut next = |is_there: bool| if is_there { operands.next() } else { None };
        let (x, y) = (next(true).unwrap_or(&layouts[0]), next(is_product));
        let layouts = RowOperandLayouts { x, y, g: next(is_backward), w: next(is_product) };
        let part = Self::new(self.function, self.product, &self.blades, layouts, self.dtype)?;
        Ok(Self { step: self.step, out: self.out, ..part })
    }

    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        self.of_one(caps)
    }
}
