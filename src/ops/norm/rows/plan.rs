//! The plan of a norm of rows: one step. A backward pass with the gradients of gamma and beta adds their partial sums in a
//! second one. Operands that are larger than a binding are cut into windows of rows.

use super::problem::{LANES, NormDims, NormKind, NormPass, NormProblem};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::{self, Needs};
use crate::layout::{DType, Layout, dim};
use crate::ops::norm::layouts::NormLayouts;
use crate::ops::subgroups::shared_bytes;
use crate::ops::windows::JOINS;
use crate::plan::{
    Access, CutAxes, Dims, Draft, Flops, Form, InWindows, Joins, NewStep, Operand, Plan, Region,
    ScalarParameter,
};
use std::mem::offset_of;
use std::ops::Range;

/// The least number of rows of an invocation that keeps partial sums. More rows mean fewer partial sums to write and
/// read.
const LEAST_ROWS: u32 = 4;

impl InWindows for NormProblem {
    const JOINS: Joins = JOINS;

    /// The axes of the rows.
    fn cut_axes(&self) -> Result<CutAxes> {
        Ok(CutAxes::of(&self.a.shape()[..self.a.rank() - 1], self.operands()))
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        let mut others = layouts[1..].iter();
        let mut next = |is_there: bool| if is_there { others.next() } else { None };
        let (b, gamma) = (next(self.b.is_some()), next(self.gamma.is_some()));
        let layouts = NormLayouts { a: &layouts[0], b, gamma, beta: next(self.beta.is_some()) };
        Self::new(self.kind, self.pass, layouts, self.dtype)
    }

    /// One step, and the sum of partial sums.
    ///
    /// Operands of a forward pass: A, the residual, gamma, beta; the result, A plus the residual, the means and the
    /// reciprocal deviations. Of a backward pass: A, the gradient, gamma, the means, the reciprocal deviations; the gradient
    /// of A, those of gamma and beta. Operands that the problem does not use are left out. Scalars: eps, in a forward pass.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let op = self.op();
        let eps = [ScalarParameter::f32("eps")];
        let mut draft = Draft::new(op, if self.pass.is_forward() { &eps } else { &[] }, caps);
        let d = self.dims_on(caps);
        let lanes = kernel::workgroup_size(LANES, caps);
        let (rows_at_once, blocks) = self.blocks(caps);
        let mut args = draft.operands(&self.operands());
        let partials = self.partials(&mut draft, &mut args, blocks * rows_at_once)?;
        let dims = Dims::of(&d);
        draft.step(NewStep {
            tile: format!("{lanes} invocations, {} a row, {}", d.lanes, self.dtype),
            blocks: u64::from(blocks),
            dims: if self.pass.is_forward() { dims.scalar(offset_of!(NormDims, eps), 0) } else { dims },
            flops: Flops::of_f32(f64::from(d.rows) * f64::from(d.length) * self.flops()),
            ..NewStep::of(self.kernel(caps), Needs::of(lanes, self.workgroup_bytes(caps)), &args)
        })?;
        if let Some([partials, gradients]) = partials {
            JOINS.sum(&mut draft, partials, gradients)?;
        }
        Ok(draft.finish())
    }
}

impl NormProblem {
    /// The uniform for a device.
    fn dims_on(&self, caps: &Caps) -> NormDims {
        NormDims { lanes: self.lanes(caps), each: self.rows_in_turn(caps), ..self.dims() }
    }

    /// The rows that a workgroup computes at once, and the number of workgroups.
    fn blocks(&self, caps: &Caps) -> (u32, u32) {
        let at_once = kernel::workgroup_size(LANES, caps) / self.lanes(caps);
        (at_once, self.rows().div_ceil(at_once).div_ceil(self.rows_in_turn(caps)))
    }

    /// The number of rows that an invocation takes one after another. It is large, for few partial sums, but small enough
    /// to occupy the device.
    fn rows_in_turn(&self, caps: &Caps) -> u32 {
        if self.pass.partials() == 0 {
            return 1;
        }
        let at_once = kernel::workgroup_size(LANES, caps) / self.lanes(caps);
        let groups = self.rows().div_ceil(at_once);
        let busy = caps.machine.workgroups().max(1);
        groups.div_ceil(busy).max(LEAST_ROWS).min(groups)
    }

    fn workgroup_bytes(&self, caps: &Caps) -> u32 {
        let lanes = kernel::workgroup_size(LANES, caps);
        let held = |bytes: u32| shared_bytes(caps, LANES, bytes);
        match (self.pass.is_forward(), self.fits(caps)) {
            (true, true) => held(4),
            (true, false) | (false, true) => held(16),
            (false, false) => 16 * lanes,
        }
    }

    fn operands(&self) -> Vec<Operand> {
        let is_forward = self.pass.is_forward();
        let (result, rows) = (self.a.dense(), self.a.without_axis(self.a.rank() - 1).dense());
        let weights = |name, of: Option<Layout>| of.map(|of| Operand::read(name, self.dtype, of).whole());
        let read = |name, of: Layout| Operand::read(name, self.dtype, of);
        let written = |name| Operand::written(name, self.dtype, result);
        let statistic = |name| match is_forward {
            true => Operand::written(name, DType::F32, rows),
            false => Operand::read(name, DType::F32, rows).in_form(Form::Dense),
        };
        let name_of_b = if is_forward { "the residual" } else { "the gradient" };
        let operands = [
            Some(read("the operand", self.a)),
            self.b.map(|b| read(name_of_b, b)),
            weights("gamma", self.gamma),
            weights("beta", self.beta),
        ];
        let results = [Some(written("the result")), self.b.map(|_| written("the sum"))];
        let statistics = [
            (self.kind == NormKind::Layer).then(|| statistic("the means")),
            Some(statistic("the reciprocal deviations")),
        ];
        let operands = operands.into_iter().flatten();
        let statistics = statistics.into_iter().flatten();
        match self.pass {
            NormPass::Forward => operands.chain(results.into_iter().flatten()).collect(),
            NormPass::ForwardWithStatistics => {
                operands.chain(results.into_iter().flatten()).chain(statistics).collect()
            }
            _ => {
                let sums = self.pass.partials() * self.length() as usize;
                let sums = (sums > 0).then(|| {
                    let name = "the gradients of gamma and beta";
                    Operand::written(name, DType::F32, Layout::line(sums)).in_form(Form::Sum).whole()
                });
                operands
                    .chain(statistics)
                    .chain([written("the gradient of the operand")])
                    .chain(sums)
                    .collect()
            }
        }
    }

    /// Gives the kernel partial sums to write if `partial_rows` are more than one. Returns them, and their sums.
    fn partials(
        &self,
        draft: &mut Draft<'_>,
        args: &mut [(Region, Access)],
        partial_rows: u32,
    ) -> Result<Option<[Region; 2]>> {
        let (slots, sums) = (partial_rows as usize, self.pass.partials() * self.length() as usize);
        let Some((gradients, _)) = args.last_mut().filter(|_| sums > 0 && slots > 1) else {
            return Ok(None);
        };
        dim(self.op(), slots * sums)?;
        let partials = draft.temporary(&[slots, sums], DType::F32)?;
        Ok(Some([partials, std::mem::replace(gradients, partials)]))
    }

    /// The approximate number of operations per element.
    fn flops(&self) -> f64 {
        match (self.kind, self.pass.is_forward()) {
            (NormKind::Layer, true) => 7.0,
            (NormKind::Rms, true) => 4.0,
            (_, false) => 14.0,
        }
    }
}
