//! Windows of a function with parameters for each feature: along the rows.

use super::problem::{FeaturesProblem, Pass};
use crate::Result;
use crate::caps::Caps;
use crate::layout::{DType, Layout};
use crate::plan::{CutAxes, CutOperand, Form, InWindows, Plan};
use std::ops::Range;

impl InWindows for FeaturesProblem {
    fn cut_axes(&self) -> Result<CutAxes> {
        let (op, shape) = (self.function.name(), self.shape());
        let of = |form, layout| CutOperand::new(form, layout, self.dtype, vec![Some(1)]);
        let whole = |layout, dtype| CutOperand::whole(layout, dtype, 1);
        let mut operands = vec![of(Form::Dense, Layout::contiguous(op, &shape)?)];
        operands.push(of(Form::View, self.layout(shape, &self.dims.x)?));
        if self.pass == Pass::Backward {
            operands.push(of(Form::View, self.layout(shape, &self.dims.g)?));
        }
        let of_feature = [shape[2], self.function.parts(&self.blades)];
        for places in [&self.dims.a, &self.dims.b].into_iter().take(self.function.parameters()) {
            operands.push(whole(self.layout(of_feature, places)?, self.dtype));
        }
        if self.pass == Pass::Backward {
            let gradients = whole(Layout::contiguous(op, &self.sums()[1..])?, DType::F32);
            operands.push(CutOperand { form: Form::Sum, ..gradients });
        }
        Ok(CutAxes { extents: vec![shape[1]], joined: 0, operands, whole: Some(2) })
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        let (x, others) = (&layouts[1], &layouts[2..]);
        let g = others.first().filter(|_| self.pass == Pass::Backward);
        let parameters: Vec<&Layout> =
            others[usize::from(g.is_some())..].iter().take(self.function.parameters()).collect();
        Self::new(self.function, &self.blades, x, g, &parameters, self.dtype)
    }

    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        self.of_one(caps)
    }
}
