//! The operands of a function with parameters for each feature, in the order of its plan.

use super::problem::{FeaturesProblem, Pass};
use crate::Result;
use crate::layout::{DType, Layout};
use crate::plan::{Form, Operand};

impl FeaturesProblem {
    /// The result, X, the gradient of the result and the parameters; in a backward pass the sums of the gradients of the
    /// parameters. (blade, row, feature) are cut along rows.
    pub(super) fn operands(&self) -> Result<Vec<Operand>> {
        let (op, shape, dtype) = (self.function.name(), self.shape(), self.dtype);
        let rows = [Some(1)];
        let mut operands = vec![
            Operand::written("the result", dtype, Layout::contiguous(op, &shape)?).along(rows),
            Operand::read("x", dtype, self.layout(shape, &self.dims.x)?).along(rows),
        ];
        if self.pass == Pass::Backward {
            let g = self.layout(shape, &self.dims.g)?;
            operands.push(Operand::read("the gradient", dtype, g).along(rows));
        }
        let parameters = [("the first parameter", &self.dims.a), ("the second parameter", &self.dims.b)];
        for (name, places) in parameters.into_iter().take(self.function.parameters()) {
            let layout = self.layout([shape[2], self.function.parts(&self.blades)], places)?;
            operands.push(Operand::read(name, dtype, layout).whole());
        }
        if self.pass == Pass::Backward {
            let gradients = Layout::contiguous(op, &self.sums()[1..])?;
            let gradients = Operand::written("the gradient of the parameters", DType::F32, gradients);
            operands.push(gradients.in_form(Form::Sum).whole());
        }
        Ok(operands)
    }
}
