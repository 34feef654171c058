//! Windows of a fully connected product: along the rows.

use super::problem::{ConnectedBackward, ConnectedForward, ConnectedProblem, OP, OperandRounding};
use crate::Result;
use crate::caps::Caps;
use crate::layout::Layout;
use crate::ops::windows::JOINS;
use crate::plan::{CutAxes, InWindows, Joins, Operand, Plan};
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
    const JOINS: Joins = JOINS;

    fn cut_axes(&self) -> Result<CutAxes> {
        Ok(along_rows(&self.product, [self.result()?].into_iter().chain(self.inputs()).collect()))
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        self.of([1, 2, 3].map(|at| &layouts[at]))
    }

    /// One matrix product. Its kernel computes the left operand, the path sums, from x and y while it stages it in
    /// shared memory. A step before it computes the gates and a step after it applies the norm, if the product has
    /// them.
    ///
    /// Operands: the result (blade, row, out), x, y, the weight.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        self.of_one(caps)
    }

    fn reasons(&self, caps: &Caps) -> Result<Vec<String>> {
        self.product_reasons(&self.rounded_product()?.forward()?, caps)
    }
}

impl InWindows for ConnectedBackward {
    const JOINS: Joins = JOINS;

    fn cut_axes(&self) -> Result<CutAxes> {
        let operands = self.gradients().into_iter().chain(self.forward.inputs()).chain([self.gradient()]);
        Ok(along_rows(&self.forward.product, operands.collect()))
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        Self::new(self.forward.of([3, 4, 5].map(|at| &layouts[at]))?, &layouts[6])
    }

    /// One matrix product computes the gradient of the weight. For each chunk of rows, another computes the gradients
    /// of the path sums, and a step after it computes the gradients of x and y from them. If the product has a norm,
    /// the plan first computes the product again and the backward pass of the norm.
    ///
    /// Operands: the gradients of x, y and the weight; x, y, the weight; the gradient of the result.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        self.of_one(caps)
    }

    fn reasons(&self, caps: &Caps) -> Result<Vec<String>> {
        let forward = &self.forward;
        let g = match (forward.rounding, forward.has_norm()) {
            (OperandRounding::None, false) => self.g,
            _ => Layout::contiguous(OP, self.g.shape())?,
        };
        forward.product_reasons(&forward.rounded_product()?.weight_gradient(&g)?, caps)
    }
}
