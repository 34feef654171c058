//! How to compute a function of multivectors: written out, or in a loop over a table; and the grid.

use super::algebra::terms::Terms;
use super::generate::function::{Operands, formula};
use super::generate::sandwich::Versor;
use super::kernel::{invocations, table};
use super::problem::CliffordProblem;
use super::vector_width::Walk;
use crate::caps::Caps;
use crate::kernel::Needs;
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Plan, Problem, Region, Time};
use crate::{Error, Result};

impl Problem for CliffordProblem {
    /// Written out, or in a loop over a table where a product has too many terms.
    ///
    /// Operands: C, X, and Y if the function has it. A table is a constant.
    ///
    /// # Errors
    /// [`Error::Limit`] too if the function has too many operations to be written out and is no product.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let op = self.function.name();
        let results = [self.blades_of(0).len(), usize::try_from(self.positions()).unwrap_or(usize::MAX)];
        if results.contains(&0) {
            return Err(Error::shape(op, "there must be something to compute", &results));
        }
        let mut draft = Draft::new(op, &[], caps);
        let mut args = Vec::with_capacity(4);
        for (i, name) in ["the result", "x", "y"].into_iter().enumerate().take(1 + self.operands()) {
            let access = if i == 0 { Access::Write } else { Access::Read };
            args.push((draft.operand(name, self.dtype, self.layout(i)?, access), access));
        }
        let terms = self.terms()?;
        match terms.as_ref().filter(|terms| terms.terms.len() > caps.machine.terms) {
            Some(terms) => self.by_table(&mut draft, terms, args)?,
            None => self.written_out(&mut draft, terms.as_ref(), &args)?,
        }
        Ok(draft.finish())
    }
}

impl CliffordProblem {
    fn written_out(
        &self,
        draft: &mut Draft<'_>,
        terms: Option<&Terms>,
        args: &[(Region, Access)],
    ) -> Result<()> {
        let (caps, op) = (draft.caps(), self.function.name());
        let versor = if self.is_repeated(1) { Versor::Shared } else { Versor::Each };
        let operands =
            Operands { x: &self.x, y: self.blades_of(2), out: &self.out, dtype: self.dtype, versor };
        let body = formula(self.function, terms, operands, caps.machine.terms)?;
        let (needed, allowed) = (body.flops() as u64, 2 * caps.machine.terms as u64);
        if needed > allowed {
            let what = "the number of operations at a position".to_owned();
            return Err(Error::Limit { op, what, needed, allowed });
        }
        let walk = Walk::of(self, caps);
        let (dims, lanes) = (walk.dims(self), invocations(caps));
        draft.step(NewStep {
            kernel: self.kernel(&body, walk, caps),
            tile: format!("{lanes} invocations of {}, {}, {}", walk.width(), self.what(), self.dtype),
            needs: self.needs(caps),
            blocks: u64::from(dims.offsets[3].div_ceil(lanes)),
            dims: Dims::of(&dims),
            args,
            flops: Flops::of_f32(body.flops() as f64 * self.positions() as f64),
            time: Time::Roofline,
        })
    }

    /// A loop over a table of terms, of one position and one blade of the result in an invocation.
    fn by_table(&self, draft: &mut Draft<'_>, terms: &Terms, mut args: Vec<(Region, Access)>) -> Result<()> {
        let (caps, needs) = (draft.caps(), self.needs(draft.caps()));
        let units = self.positions() * self.out.len() as u64;
        let lanes = invocations(caps);
        args.push((draft.constant(&table(terms))?, Access::Read));
        draft.step(NewStep {
            kernel: self.table_kernel(caps),
            tile: format!("{lanes} invocations of a blade, {}, {}", self.what(), self.dtype),
            needs: Needs { bindings: needs.bindings + 1, ..needs },
            blocks: units.div_ceil(u64::from(lanes)),
            dims: Dims::of(&Walk::Ones.dims(self)),
            args: &args,
            flops: Flops::of_f32(2.0 * terms.terms.len() as f64 * self.positions() as f64),
            time: Time::Roofline,
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
    use crate::clifford::problem::{BladeAxis, Placed};
    use crate::kernel::write::{Expression, flops_as_read};
    use crate::layout::{DType, Layout};

    /// The operation counts of `shaders/common/trigonometry.wgsl` against its text.
    #[test]
    fn functions_of_angles_and_roots_do_as_many_operations_as_is_said() -> Result<()> {
        let motors = Signature::CL2.even();
        let layout = Layout::contiguous("test", &[motors.len(), 8])?;
        let placed = Placed { layout: &layout, blades: &motors };
        let problem =
            CliffordProblem::new(Function::Normalize, &[placed], placed, BladeAxis::First, DType::F32)?;
        let text = problem.plan(&fixtures::h200())?.steps()[0].kernel.specialize()?;
        for callee in ALL {
            let call = callee.call::<Expression>([]);
            let name = call.to_string().replace("()", "");
            assert_eq!(call.flops(), flops_as_read(&text, &name), "{name}");
        }
        Ok(())
    }
}
