//! Windows of a function of rows of multivectors: along the rows.

use super::problem::{RowFunction, RowOperandLayouts, RowProblem};
use crate::Result;
use crate::caps::Caps;
use crate::layout::{DType, Layout};
use crate::plan::{CutAxes, Form, InWindows, Operand, Plan};
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

impl RowProblem {
    /// The result; in the backward pass of a product, the gradients of y and of the weights; x, y, the gradient of the result and
    /// the weights. (blade, row, feature) are cut along rows.
    pub(super) fn listed(&self) -> Result<[Option<Operand>; 7]> {
        let result = Layout::contiguous(self.function.name(), &self.shape())?;
        let written = |name| Operand::written(name, self.out, result).along([Some(1)]);
        let read = |name, places: &[u32; 4]| {
            self.layout(places).map(|layout| Operand::read(name, self.dtype, layout).along([Some(1)]))
        };
        let (is_product, is_backward) = (self.function.is_product(), self.function.is_backward());
        let weights = if is_product { Some(self.weights()?) } else { None };
        let gradient = |weights: Layout| {
            let sum = Operand::written("the gradient of the weights", DType::F32, weights.dense());
            sum.in_form(Form::Sum).whole()
        };
        let has_gradients = self.function == RowFunction::SteerableBackward;
        Ok([
            Some(written("the result")),
            has_gradients.then(|| written("the gradient of y")),
            weights.filter(|_| has_gradients).map(gradient),
            Some(read("x", &self.dims.x)?),
            if is_product { Some(read("y", &self.dims.y)?) } else { None },
            if is_backward { Some(read("the gradient", &self.dims.g)?) } else { None },
            weights.map(|weights| Operand::read("the weights", self.dtype, weights).whole()),
        ])
    }
}
