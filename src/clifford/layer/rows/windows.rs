//! Windows of a function of rows of multivectors: along the rows.

use super::problem::{RowFunction, RowOperandLayouts, RowProblem};
use crate::Result;
use crate::caps::Caps;
use crate::layout::Layout;
use crate::ops::windows::JOINS;
use crate::plan::{CutAxes, InWindows, Joins, Plan};
use std::ops::Range;

impl InWindows for RowProblem {
    const JOINS: Joins = JOINS;

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

    /// One step if a row fits a workgroup, otherwise two: the sums of rows, then the result. With windows, each window has these
    /// steps. Each workgroup sums the gradient of the weights over its rows. If there are several such sums, a last step adds them
    /// in a fixed order.
    ///
    /// Operands: the result, or in a backward pass the gradient of x; in the backward pass of a product, the gradients
    /// of y and of the weights; x; for a product, y; in a backward pass, the gradient of the result; for a product, the
    /// weights.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        self.of_one(caps)
    }
}
