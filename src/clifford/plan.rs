//! The plan of a function of multivectors: generated code, or a loop over a table of terms.

use super::algebra::terms::Terms;
use super::generate::function::{Operands, formula};
use super::generate::sandwich::VersorUse;
use super::kernel::{invocations, table};
use super::problem::{BladeAxis, CliffordProblem, MvLayout};
use super::vector_width::VectorWidth;
use crate::caps::Caps;
use crate::kernel::Needs;
use crate::layout::Layout;
use crate::ops::windows::JOINS;
use crate::plan::{Access, CutAxes, Dims, Draft, Flops, InWindows, Joins, NewStep, Operand, Plan, Region};
use crate::{Error, Result};
use std::ops::Range;

impl InWindows for CliffordProblem {
    const JOINS: Joins = JOINS;

    /// The axes of the positions.
    fn cut_axes(&self) -> Result<CutAxes> {
        Ok(CutAxes::of(self.positions_of(0).shape(), self.listed()))
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        let of = |i: usize| MvLayout { layout: &layouts[i], blades: self.blades_of(i) };
        let operands: Vec<MvLayout<'_>> = (1..layouts.len()).map(of).collect();
        Self::new(self.function, &operands, of(0), self.axis, self.dtype)
    }

    /// A kernel with generated code, or, for products with too many terms, a loop over a table of terms.
    ///
    /// Operands: C, X, and Y if the function has two. The table is a constant.
    ///
    /// # Errors
    /// [`Error::Limit`] also if the function is no product and has too many operations for generated code.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let op = self.function.name();
        let results = [self.blades_of(0).len(), usize::try_from(self.positions()).unwrap_or(usize::MAX)];
        if results.contains(&0) {
            return Err(Error::shape(op, "the result must have at least one element", &results));
        }
        let mut draft = Draft::new(op, &[], caps);
        let args = draft.operands(&self.listed());
        let terms = self.terms()?;
        match terms.as_ref().filter(|terms| terms.terms.len() > caps.machine.max_terms) {
            Some(terms) => self.plan_table(&mut draft, terms, args)?,
            None => self.plan_generated(&mut draft, terms.as_ref(), &args)?,
        }
        Ok(draft.finish())
    }
}

impl CliffordProblem {
    /// The result and the operands. Their axes are those of the positions, and that of the blades.
    fn listed(&self) -> Vec<Operand> {
        let first = usize::from(self.axis == BladeAxis::First);
        let own = || (0..self.layouts[0].rank() - 1).map(|axis| Some(axis + first));
        let names = ["the result", "x", "y"].into_iter().enumerate().take(1 + self.operands());
        let operand = |(i, name)| {
            let access = if i == 0 { Access::Write } else { Access::Read };
            Operand::read(name, self.dtype, self.layouts[i]).accessed(access).along(own())
        };
        names.map(operand).collect()
    }

    /// One step with generated code.
    fn plan_generated(
        &self,
        draft: &mut Draft<'_>,
        terms: Option<&Terms>,
        args: &[(Region, Access)],
    ) -> Result<()> {
        let (caps, op) = (draft.caps(), self.function.name());
        let versor = if self.inner_stride(1) == 0 { VersorUse::Shared } else { VersorUse::PerPosition };
        let operands =
            Operands { x: &self.x, y: self.blades_of(2), out: &self.out, dtype: self.dtype, versor };
        let formula = formula(self.function, terms, operands, caps.machine.max_terms)?;
        let allowed = 2 * caps.machine.max_terms as u64;
        Error::check_limit(op, "the number of operations per position", formula.flops() as u64, allowed)?;
        let width = VectorWidth::of(self, caps);
        let (dims, lanes) = (self.dims(width.count()), invocations(caps));
        draft.step(NewStep {
            tile: format!("{lanes} invocations of {}, {}, {}", width.count(), self.description(), self.dtype),
            blocks: u64::from(dims.offsets[3].div_ceil(lanes)),
            dims: Dims::of(&dims),
            flops: Flops::of_f32(formula.flops() as f64 * self.positions() as f64),
            ..NewStep::of(self.kernel(&formula, width, caps), Needs::of(lanes, 0), args)
        })
    }

    /// One step with a loop over a table of terms. An invocation computes one blade of the result at one position.
    fn plan_table(
        &self,
        draft: &mut Draft<'_>,
        terms: &Terms,
        mut args: Vec<(Region, Access)>,
    ) -> Result<()> {
        let caps = draft.caps();
        let units = self.positions() * self.out.len() as u64;
        let lanes = invocations(caps);
        args.push((draft.constant(&table(terms))?, Access::Read));
        draft.step(NewStep {
            tile: format!("{lanes} invocations of a blade, {}, {}", self.description(), self.dtype),
            blocks: units.div_ceil(u64::from(lanes)),
            dims: Dims::of(&self.dims(1)),
            flops: Flops::of_f32(2.0 * terms.terms.len() as f64 * self.positions() as f64),
            ..NewStep::of(self.table_kernel(caps), Needs::of(lanes, 0), &args)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::fixtures;
    use crate::clifford::algebra::function::Function;
    use crate::clifford::algebra::signature::Signature;
    use crate::clifford::generate::trigonometry::ALL;
    use crate::clifford::problem::{BladeAxis, MvLayout};
    use crate::kernel::wgsl::{Expression, naga_flops};
    use crate::layout::{DType, Layout};
    use crate::plan::Problem;

    /// The operation counts of `shaders/common/trigonometry.wgsl` against its text.
    #[test]
    fn trigonometry_has_the_stated_operation_counts() -> Result<()> {
        let motors = Signature::CL2.even();
        let layout = Layout::contiguous("test", &[motors.len(), 8])?;
        let placed = MvLayout { layout: &layout, blades: &motors };
        let problem =
            CliffordProblem::new(Function::Normalize, &[placed], placed, BladeAxis::First, DType::F32)?;
        let text = problem.plan(&fixtures::h200())?.steps()[0].kernel.specialize()?;
        for callee in ALL {
            let call = callee.call::<Expression>([]);
            let name = call.to_string().replace("()", "");
            assert_eq!(call.flops(), naga_flops(&text, &name), "{name}");
        }
        Ok(())
    }
}
