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
        let g = layouts.get(2).filter(|_| self.g.is_some());
        let others = layouts[2 + usize::from(g.is_some())..].iter();
        let parameters: Vec<&Layout> = others.take(self.parameters.len()).collect();
        Self::new(self.function, &self.blades, &layouts[1], g, &parameters, self.dtype)
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
        let gradients = match (self.pass(), args.last_mut()) {
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
        let dims = self.dims();
        let groups = if self.function.has_row_mean() { dims.units } else { dims.units.div_ceil(lanes) };
        let terms = terms(self.function, self.pass(), &self.blades);
        draft.step(NewStep {
            tile: format!("{lanes} invocations, {self}, {}", self.dtype),
            blocks: u64::from(groups),
            dims: Dims::of(&dims),
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

    /// The result, X, the gradient of the result and the parameters; in a backward pass the sums of the gradients of the
    /// parameters. (blade, row, feature) are cut along rows.
    fn operands(&self) -> Result<Vec<Operand>> {
        let Self { function, x, g, parameters, dtype, .. } = self;
        let read = |name, of: &Layout| Operand::read(name, *dtype, *of);
        let mut operands = vec![Operand::written("the result", *dtype, x.dense()), read("x", x)];
        operands.extend(g.iter().map(|g| read("the gradient", g)));
        let mut operands: Vec<_> = operands.into_iter().map(|of| of.along([Some(1)])).collect();
        let names = ["the first parameter", "the second parameter"].into_iter();
        operands.extend(names.zip(parameters).map(|(name, of)| read(name, of).whole()));
        if g.is_some() {
            let gradients = Layout::contiguous(function.name(), &self.sums()[1..])?;
            let gradients = Operand::written("the gradient of the parameters", DType::F32, gradients);
            operands.push(gradients.in_form(Form::Sum).whole());
        }
        Ok(operands)
    }
}
