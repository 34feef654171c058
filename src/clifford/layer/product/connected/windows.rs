//! Windows of a fully connected product: along the rows.

use super::problem::{ConnectedBackward, ConnectedForward, ConnectedProblem, OP};
use crate::Result;
use crate::caps::Caps;
use crate::layout::{DType, Layout};
use crate::plan::{CutAxes, CutOperand, Form, InWindows, Plan};
use std::ops::Range;

/// An operand (blade, row, feature).
fn of_rows(form: Form, layout: Layout, dtype: DType) -> CutOperand {
    CutOperand::new(form, layout, dtype, vec![Some(1)])
}

/// All axes of a product with these operands.
fn along_rows(product: &ConnectedProblem, operands: Vec<CutOperand>) -> CutAxes {
    CutAxes { extents: vec![product.operands[0].shape()[1]], joined: 0, operands, whole: Some(2) }
}

impl ConnectedForward {
    /// The operands that a product reads: x, y and the weight.
    fn inputs(&self) -> [CutOperand; 3] {
        let ConnectedProblem { operands: [x, y], weight, dtype, .. } = &self.product;
        let [x, y] = [x, y].map(|&layout| of_rows(Form::View, layout, *dtype));
        [x, y, CutOperand::whole(*weight, *dtype, 1)]
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
        let [blades, rows, _, outputs] = self.product.sizes();
        let result = Layout::contiguous(OP, &[blades, rows, outputs])?;
        let result = of_rows(Form::Dense, result, self.product.result);
        Ok(along_rows(&self.product, [result].into_iter().chain(self.inputs()).collect()))
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
        let ConnectedProblem { operands: [x, y], weight, dtype, result, .. } = &self.forward.product;
        let gradient = |of: &Layout| Layout::contiguous(OP, of.shape());
        let mut operands = vec![
            of_rows(Form::Dense, gradient(x)?, *dtype),
            of_rows(Form::Dense, gradient(y)?, *dtype),
            CutOperand { form: Form::Sum, ..CutOperand::whole(gradient(weight)?, DType::F32, 1) },
        ];
        operands.extend(self.forward.inputs());
        operands.push(of_rows(Form::View, self.g, *result));
        Ok(along_rows(&self.forward.product, operands))
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        Self::new(self.forward.of([3, 4, 5].map(|at| &layouts[at]))?, &layouts[6])
    }

    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        self.of_one(caps)
    }
}
