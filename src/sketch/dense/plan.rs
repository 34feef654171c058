//! The plan of a dense operator: a matrix product that generates one operand in the kernel.

use super::problem::DenseProblem;
use crate::Result;
use crate::caps::Caps;
use crate::gemm::{Distribution, GemmProblem, GemmTypes, GeneratedOperand, GeneratedTrial, OuterAxis, Side};
use crate::layout::{DType, Layout};
use crate::ops::windows::JOINS;
use crate::plan::{
    CutAxes, Draft, InWindows, Joins, Plan, Problem, Region, Scalar, ScalarKind, Trial, TrialRun,
    TrialValues, distinct,
};
use crate::sketch::operator::axis::SketchOperand;
use crate::sketch::operator::{Direction, OP, normal_table};
use std::ops::Range;

impl InWindows for DenseProblem {
    const JOINS: Joins = JOINS;

    fn cut_axes(&self) -> Result<CutAxes> {
        self.operand.cut_axes()
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        Ok(Self { operand: self.operand.window(&layouts[0]), ..*self })
    }

    /// The steps of a matrix product that generates one operand in the kernel; with windows, each window has them.
    ///
    /// Operands: x, the result, the seed if a tensor holds it. Scalars: the seed if no tensor holds it, and the scale unless
    /// it is 1.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(OP, &self.scalars(), caps);
        let OperatorProduct { problem, side, x, y } = self.product()?;
        let (operands, seed) = self.operand.operands()?;
        let [of_x, of_y] = operands.map(|of| draft.region(&of));
        let (x, y) = (of_x.with_layout(x), of_y.with_layout(y));
        let seed = seed.map(|of| draft.region(&of));
        let words = if self.entries == Distribution::Normal { normal_table() } else { &[0] };
        debug_assert!(words.len() as u64 == self.entries.table_words());
        let table = draft.constant(words)?;
        let [a, b] = if side == Side::A { [table, x] } else { [x, table] };
        let operands: Vec<Region> = [a, b, y].into_iter().chain(seed).collect();
        let product = problem.plan(caps)?;
        // The operator's scale is the alpha of the product.
        let names =
            product.scalars().iter().map(|scalar| if scalar.name == "alpha" { "scale" } else { scalar.name });
        let scalars: Vec<usize> = names.filter_map(|name| draft.scalar(name)).collect();
        draft.call(product, &operands, &scalars)?;
        Ok(draft.finish())
    }

    /// The errors of the matrix product.
    fn alternatives(&self, caps: &Caps) -> Result<Vec<Plan>> {
        let restricted = self.product()?.problem.restricted(caps)?.into_iter();
        distinct(restricted.map(|GemmProblem { pin, split, .. }| Self { pin, split, ..*self }.plan(caps)))
    }

    fn reference(&self, caps: &Caps) -> Result<Option<Trial>> {
        let Some(GeneratedTrial { simple, runs }) = self.product()?.problem.generated_trial(caps)? else {
            return Ok(None);
        };
        let reference = Self { pin: simple.pin, split: simple.split, ..*self }.plan(caps)?;
        let numbers = reference.scalars().iter().map(|scalar| match scalar.kind {
            ScalarKind::F32 => Scalar::F32(0.5),
            ScalarKind::U32 => Scalar::U32(7),
        });
        let run = |(values, tolerance)| {
            let values = reference.parameters().iter().map(|to| match to.dtype {
                DType::I32 => TrialValues::Each(7), // the seed
                _ => values,
            });
            TrialRun { values: values.collect(), tolerances: vec![tolerance] }
        };
        let (scalars, runs) = (numbers.collect(), runs.into_iter().map(run).collect());
        let SketchOperand { x, axis, extent, dtype, .. } = self.operand;
        let description = format!("sketch of {extent}x{} of {:?} {dtype}", x.shape()[axis], x.shape());
        Ok(Some(Trial { description, reference, scalars, runs }))
    }

    /// The reasons of the matrix product.
    fn reasons(&self, caps: &Caps) -> Result<Vec<String>> {
        Ok(self.product()?.problem.explain(caps)?.reasons().to_vec())
    }
}

/// The matrix product that applies an operator.
struct OperatorProduct {
    problem: GemmProblem,
    /// The operand that is generated.
    side: Side,
    /// The other operand, as a matrix or a batch of matrices.
    x: Layout,
    /// The result of the product.
    y: Layout,
}

impl DenseProblem {
    fn product(&self) -> Result<OperatorProduct> {
        let SketchOperand { x, dtype, seed, .. } = self.operand;
        let layout = self.operand.layout()?;
        let [from, to] = layout.extents;
        let result = Layout::contiguous(OP, &layout.shape)?;
        let (side, x, y) = layout.as_product(&x, &result)?;
        let generated_layout =
            Layout::contiguous(OP, &if side == Side::A { [to, from] } else { [from, to] })?;
        let (a, b) = if side == Side::A { (&generated_layout, &x) } else { (&x, &generated_layout) };
        let outer = if self.direction == Direction::Forward { OuterAxis::Rows } else { OuterAxis::Columns };
        let generated = GeneratedOperand { side, entries: self.entries, outer, tag: self.tag, seed };
        let types = GemmTypes::new(dtype, DType::F32);
        let problem = GemmProblem::new(a, b, &y, types)?.pinned(self.pin).split_k(self.split);
        let mut problem = problem.generated(generated);
        problem.epilogue.scale = self.scale;
        Ok(OperatorProduct { problem, side, x, y })
    }
}
