//! Windows of a fully connected product: along the rows.

use super::problem::{ConnectedBackward, ConnectedForward, ConnectedProblem};
use crate::Result;
use crate::caps::Caps;
use crate::layout::Layout;
use crate::plan::{CutAxes, InWindows, Operand, Plan};
use std::ops::Range;

/// All axes of a product with these operands.
fn along_rows(product: &ConnectedProblem, operands: Vec<Operand>) -> CutAxes {
    CutAxes { whole: Some(2), ..CutAxes::of(&product.operands[0].shape()[1..2], operands) }
}

impl ConnectedForward {
    /// The product of these operands.
    fn of(&self, [x, y, weight]: [&Layout; 3]) -> Result<Self> {
        let ConnectedProblem { product, blades, dtype, result, .. } = &self.product;
        let part = ConnectedProblem::new(*product, blades, [x, y], weight, *dtype)?;
        Self::new(ConnectedProblem { result: *result, ..part }, self.rounding, self.pin)
    }
}

impl InWindows for ConnectedForward {
    fn cut_axes(&self) -> Result<CutAxes> {
        Ok(along_rows(&self.product, [self.result()?].into_iter().chain(self.inputs()).collect()))
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        self.of([1, 2, 3].map(|at| &layouts[at]))
    }

    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        self.of_one(caps)
    }
}

impl InWindows for ConnectedBackward {
    fn cut_axes(&self) -> Result<CutAxes> {
        let operands = self.gradients().into_iter().chain(self.forward.inputs()).chain([self.gradient()]);
        Ok(along_rows(&self.forward.product, operands.collect()))
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        Self::new(self.forward.of([3, 4, 5].map(|at| &layouts[at]))?, &layouts[6])
    }

    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        self.of_one(caps)
    }
}
