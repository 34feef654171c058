//! The operands of a fully connected product and of its gradients. Those of (blade, row, feature) are cut along rows.

use super::problem::{ConnectedBackward, ConnectedForward, ConnectedProblem, OP};
use crate::Result;
use crate::layout::{DType, Layout};
use crate::plan::{Form, Operand};

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
