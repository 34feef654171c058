//! Windows of a fully connected product: along the rows.

use super::problem::{ConnectedBackward, ConnectedForward, ConnectedProblem, OP};
use crate::Result;
use crate::caps::Caps;
use crate::layout::{DType, Layout};
use crate::plan::{CutAxes, Form, InWindows, Operand, Plan};
use std::ops::Range;

/// All axes of a product with these operands.
fn along_rows(product: &ConnectedProblem, operands: Vec<Operand>) -> CutAxes {
    CutAxes { whole: Some(2), ..CutAxes::of(&product.operands[0].shape()[1..2], operands) }
}

impl ConnectedForward {
    /// The operands that a product reads: x and y (blade, row, feature), and the weight.
    pub(super) fn inputs(&self) -> [Operand; 3] {
        let ConnectedProblem { operands: [x, y], weight, dtype, .. } = &self.product;
        let read = |name, layout: &Layout| Operand::read(name, *dtype, *layout);
        [read("x", x).along([Some(1)]), read("y", y).along([Some(1)]), read("the weight", weight).whole()]
    }

    /// The result.
    pub(super) fn result(&self) -> Result<Operand> {
        let [blades, rows, _, outputs] = self.product.sizes();
        let result = Layout::contiguous(OP, &[blades, rows, outputs])?;
        Ok(Operand::written("the result", self.product.result, result).along([Some(1)]))
    }

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

impl ConnectedBackward {
    /// The gradients of x, y and the weight.
    pub(super) fn gradients(&self) -> [Operand; 3] {
        let ConnectedProblem { operands: [x, y], weight, dtype, .. } = &self.forward.product;
        let of_rows = |name, of: &Layout| Operand::written(name, *dtype, of.dense()).along([Some(1)]);
        let of_weight = Operand::written("the gradient of the weight", DType::F32, weight.dense());
        [
            of_rows("the gradient of x", x),
            of_rows("the gradient of y", y),
            of_weight.in_form(Form::Sum).whole(),
        ]
    }

    /// The gradient of the result.
    pub(super) fn gradient(&self) -> Operand {
        Operand::read("the gradient", self.forward.product.result, self.g).along([Some(1)])
    }
}
