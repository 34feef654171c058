//! Windows of a function of rows of multivectors: along the rows.

use super::problem::{RowFunction, RowOperandLayouts, RowProblem};
use crate::Result;
use crate::caps::Caps;
use crate::layout::{DType, Layout};
use crate::plan::{CutAxes, CutOperand, Form, InWindows, Plan};
use std::ops::Range;

impl InWindows for RowProblem {
    fn cut_axes(&self) -> Result<CutAxes> {
        let (op, shape) = (self.function.name(), self.shape());
        let of = |form, layout, dtype| CutOperand::new(form, layout, dtype, vec![Some(1)]);
        let whole = |layout, dtype| CutOperand::whole(layout, dtype, 1);
        let result = of(Form::Dense, Layout::contiguous(op, &shape)?, self.out);
        let mut operands = vec![result.clone()];
        if self.function == RowFunction::SteerableBackward {
            let gradient = Layout::contiguous(op, self.weights()?.shape())?;
            operands.extend([result, CutOperand { form: Form::Sum, ..whole(gradient, DType::F32) }]);
        }
        let d = &self.dims;
        let (is_product, is_backward) = (self.function.is_product(), self.function.is_backward());
        for (places, _) in
            [(&d.x, true), (&d.y, is_product), (&d.g, is_backward)].iter().filter(|(_, is)| *is)
        {
            operands.push(of(Form::View, self.layout(places)?, self.dtype));
        }
        if is_product {
            operands.push(whole(self.weights()?, self.dtype));
        }
        Ok(CutAxes { extents: vec![shape[1]], joined: 0, operands, whole: Some(2) })
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
