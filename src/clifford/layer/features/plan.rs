//! The plan of a function with parameters for each feature: one step, and in a backward pass a second one that adds
//! partial sums.

use super::problem::{FeaturesProblem, Pass};
use super::terms::{FunctionCode, terms};
use crate::caps::Caps;
use crate::layout::{DType, Layout};
use crate::ops::windows::JOINS;
use crate::ops::{ReduceFunction, ReduceProblem};
use crate::plan::{
    Access, CutAxes, Dims, Draft, Flops, Form, InWindows, Joins, NewStep, Operand, Plan, Problem, Region,
};
use crate::{Error, Result};
use std::ops::Range;

/// Along the rows.
impl InWindows for FeaturesProblem {
    const JOINS: Joins = JOINS;

    fn cut_axes(&self) -> Result<CutAxes> {
        Ok(CutAxes { whole: Some(2), ..CutAxes::of(&self.shape()[1..2], self.operands()?) })
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        let (x, others) = (&layouts[1], &layouts[2..]);
        let g = others.first().filter(|_| self.pass == Pass::Backward);
        let parameters: Vec<&Layout> =
            others[usize::from(g.is_some())..].iter().take(self.function.parameters()).collect();
        Self::new(self.function, &self.blades, x, g, &parameters, self.dtype)
    }

    /// One step: a kernel over features, or over rows if the function needs the mean of a row. In a backward pass, a second step
    /// sums the gradients of the parameters over strips of rows, in a fixed order. With windows, each window has these steps, and
    /// the sums of the windows' gradients follow.
    ///
    /// Operands: the result, or in a backward pass the gradient of x; x; in a backward pass, the gradient of the
    /// result; the parameters; in a backward pass, the gradients of the parameters (feature, parts of all parameters),
    /// in f32.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let (op, shape) = (self.function.name(), self.shape());
        if shape.contains(&0) {
            return Err(Error::shape(op, "there must be at least one row and one feature", &shape));
        }
        let mut draft = Draft::new(op, &[], caps);
        let mut args = draft.operands(&self.operands()?);
        let gradients = match (self.pass, args.last_mut()) {
            (Pass::Backward, Some((gradients, _))) => gradients,
            _ => {
                self.step(&mut draft, &args)?;
                return Ok(draft.finish());
            }
        };
        // The kernel writes partial sums.
        let sums = draft.temporary(&self.sums(), DType::F32)?;
        let gradients = std::mem::replace(gradients, sums);
        self.step(&mut draft, &args)?;
        let sum = ReduceProblem::new(ReduceFunction::Sum, &sums.layout, &[0], DType::F32)?;
        draft.call(sum.plan(caps)?, &[sums, gradients], &[])?;
        Ok(draft.finish())
    }
}

impl FeaturesProblem {
    fn step(&self, draft: &mut Draft<'_>, args: &[(Region, Access)]) -> Result<()> {
        let caps = draft.caps();
        let lanes = self.lanes(caps);
        let units = self.dims.units;
        let groups = if self.function.has_row_mean() { units } else { units.div_ceil(lanes) };
        let terms = terms(self.function, self.pass, &self.blades);
        draft.step(NewStep {
            tile: format!("{lanes} invocations, {self}, {}", self.dtype),
            blocks: u64::from(groups),
            dims: Dims::of(&self.dims),
            flops: Flops::of_f32(self.flops(&terms)),
            ..NewStep::of(self.kernel(&terms.module, caps), self.needs(caps), args)
        })
    }

    /// Arithmetic operations for all features and rows, without the sums over lanes.
    fn flops(&self, terms: &FunctionCode) -> f64 {
        let [_, rows, features] = self.shape();
        let [strips, ..] = self.sums();
        let each_of = |flops: usize, count: usize| flops as f64 * (count as f64 * features as f64);
        each_of(terms.row_flops, rows) + each_of(terms.strip_flops, strips)
    }
}

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
