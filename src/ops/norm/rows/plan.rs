//! The plan of a norm of rows: one step. A backward pass with the gradients of gamma and beta adds their partial sums in a
//! second one. Operands that are larger than a binding are cut into windows of rows.

use super::problem::{LANES, NormDims, NormKind, NormLayouts, NormPass, NormProblem};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::{self, Needs};
use crate::layout::{DType, Layout, dim};
use crate::ops::subgroups::shared_bytes;
use crate::ops::windows::JOINS;
use crate::ops::{ReduceFunction, ReduceProblem};
use crate::plan::{
    Access, CutAxes, CutOperand, Dims, Draft, Flops, Form, InWindows, NewStep, Plan, Problem, Region,
    ScalarParameter, Time, plan_in_windows,
};
use std::mem::offset_of;
use std::ops::Range;

/// The least number of rows of an invocation that keeps partial sums. More rows mean fewer partial sums to write and
/// read.
const LEAST_ROWS: u32 = 4;

/// The regions that `plan` adds to its draft before the step: the arguments, and the gradients of gamma and beta.
struct Arguments {
    args: Vec<(Region, Access)>,
    gradients: Option<[Region; 2]>,
}

impl Problem for NormProblem {
    /// One step, and the sum of partial sums.
    ///
    /// Operands of a forward pass: A, the residual, gamma, beta; the result, A plus the residual, the means and the
    /// reciprocal deviations. Of a backward pass: A, the gradient, gamma, the means, the reciprocal deviations; the gradient
    /// of A, those of gamma and beta. Operands that the problem does not use are left out. Scalars: eps, in a forward pass.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        plan_in_windows(self, caps, JOINS)
    }
}

impl InWindows for NormProblem {
    /// The axes of the rows.
    fn cut_axes(&self) -> Result<CutAxes> {
        let (op, [a, b]) = (self.op(), self.layouts()?);
        let axes = a.rank() - 1;
        let of_rows =
            |form, layout, dtype| CutOperand::new(form, layout, dtype, (0..axes).map(Some).collect());
        let mut operands = vec![of_rows(Form::View, a, self.dtype)];
        if self.has_b {
            operands.push(of_rows(Form::View, b, self.dtype));
        }
        let d = &self.dims;
        for (_, offset) in [(self.has_gamma, d.gamma_offset), (self.has_beta, d.beta_offset)]
            .into_iter()
            .filter(|(is_there, _)| *is_there)
        {
            operands.push(CutOperand::whole(self.weights(offset)?, self.dtype, axes));
        }
        let result = of_rows(Form::Dense, Layout::contiguous(op, a.shape())?, self.dtype);
        let statistic = of_rows(Form::Dense, Layout::contiguous(op, &a.shape()[..axes])?, DType::F32);
        let count = if self.kind == NormKind::Layer { 2 } else { 1 };
        if self.pass.is_forward() {
            let results = if self.has_b { 2 } else { 1 };
            operands.extend(vec![result; results]);
            operands.extend(vec![
                statistic;
                if self.pass == NormPass::ForwardWithStatistics { count } else { 0 }
            ]);
        } else {
            operands.extend(vec![statistic; count]);
            operands.push(result);
            let sums = self.pass.partials() * self.dims.length as usize;
            if sums > 0 {
                let sums = CutOperand::whole(Layout::contiguous(op, &[sums])?, DType::F32, axes);
                operands.push(CutOperand { form: Form::Sum, ..sums });
            }
        }
        Ok(CutAxes { extents: a.shape()[..axes].to_vec(), joined: 0, operands, whole: None })
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        let mut others = layouts[1..].iter();
        let mut next = |is_there: bool| if is_there { others.next() } else { None };
        let (b, gamma, beta) = (next(self.has_b), next(self.has_gamma), next(self.has_beta));
        Self::new(self.kind, self.pass, NormLayouts { a: &layouts[0], b, gamma, beta }, self.dtype)
    }

    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let op = self.op();
        let eps = [ScalarParameter::f32("eps")];
        let mut draft = Draft::new(op, if self.pass.is_forward() { &eps } else { &[] }, caps);
        let d = self.dims_on(caps);
        let lanes = kernel::workgroup_size(LANES, caps);
        let (rows_at_once, blocks) = self.blocks(caps);
        let Arguments { args, gradients } = if self.pass.is_forward() {
            self.forward_arguments(&mut draft)?
        } else {
            self.backward_arguments(&mut draft, blocks * rows_at_once)?
        };
        let dims = Dims::of(&d);
        draft.step(NewStep {
            kernel: self.kernel(caps),
            tile: format!("{lanes} invocations, {} a row, {}", d.lanes, self.dtype),
            needs: Needs {
                bindings: dim(op, args.len())?,
                invocations: lanes,
                workgroup_bytes: self.workgroup_bytes(caps),
            },
            blocks: u64::from(blocks),
            dims: if self.pass.is_forward() { dims.scalar(offset_of!(NormDims, eps), 0) } else { dims },
            args: &args,
            flops: Flops::of_f32(f64::from(d.rows) * f64::from(d.length) * self.flops()),
            time: Time::Roofline,
        })?;
        if let Some([partials, gradients]) = gradients {
            let sum =
                ReduceProblem::new(ReduceFunction::Sum, &partials.layout, &[0], DType::F32)?.in_one_step();
            draft.call(sum.plan(caps)?, &[partials, gradients], &[])?;
        }
        Ok(draft.finish())
    }
}

impl NormProblem {
    /// The uniform for a device.
    fn dims_on(&self, caps: &Caps) -> NormDims {
        NormDims { lanes: self.lanes(caps), each: self.rows_in_turn(caps), ..self.dims }
    }

    /// The rows that a workgroup computes at once, and the number of workgroups.
    fn blocks(&self, caps: &Caps) -> (u32, u32) {
        let at_once = kernel::workgroup_size(LANES, caps) / self.lanes(caps);
        (at_once, self.dims.rows.div_ceil(at_once).div_ceil(self.rows_in_turn(caps)))
    }

    /// The number of rows that an invocation takes one after another. It is large, for few partial sums, but small enough
    /// to occupy the device.
    fn rows_in_turn(&self, caps: &Caps) -> u32 {
        if self.pass.partials() == 0 {
            return 1;
        }
        let at_once = kernel::workgroup_size(LANES, caps) / self.lanes(caps);
        let groups = self.dims.rows.div_ceil(at_once);
        let busy = caps.machine.cores.saturating_mul(caps.machine.workgroups_per_core).max(1);
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

    fn forward_arguments(&self, draft: &mut Draft<'_>) -> Result<Arguments> {
        let [a, b] = self.layouts()?;
        let mut args = vec![(draft.operand("the operand", self.dtype, a, Access::Read), Access::Read)];
        if self.has_b {
            args.push((draft.operand("the residual", self.dtype, b, Access::Read), Access::Read));
        }
        self.weights_arguments(draft, &mut args)?;
        let result = Layout::contiguous(self.op(), &[self.dims.rows as usize * self.dims.length as usize])?;
        let mut write = |draft: &mut Draft<'_>, name, dtype, layout| {
            args.push((draft.operand(name, dtype, layout, Access::Write), Access::Write));
        };
        write(draft, "the result", self.dtype, result);
        if self.has_b {
            write(draft, "the sum", self.dtype, result);
        }
        if self.pass == NormPass::ForwardWithStatistics {
            let rows = Layout::contiguous(self.op(), &[self.dims.rows as usize])?;
            if self.kind == NormKind::Layer {
                write(draft, "the means", DType::F32, rows);
            }
            write(draft, "the reciprocal deviations", DType::F32, rows);
        }
        Ok(Arguments { args, gradients: None })
    }

    fn backward_arguments(&self, draft: &mut Draft<'_>, partial_rows: u32) -> Result<Arguments> {
        let op = self.op();
        let [a, b] = self.layouts()?;
        let read = |draft: &mut Draft<'_>, name, dtype, layout| {
            (draft.operand(name, dtype, layout, Access::Read), Access::Read)
        };
        let mut args =
            vec![read(draft, "the operand", self.dtype, a), read(draft, "the gradient", self.dtype, b)];
        self.weights_arguments(draft, &mut args)?;
        let rows = Layout::contiguous(op, &[self.dims.rows as usize])?;
        if self.kind == NormKind::Layer {
            args.push(read(draft, "the means", DType::F32, rows));
        }
        args.push(read(draft, "the reciprocal deviations", DType::F32, rows));
        let result = Layout::contiguous(op, &[self.dims.rows as usize * self.dims.length as usize])?;
        args.push((
            draft.operand("the gradient of the operand", self.dtype, result, Access::Write),
            Access::Write,
        ));
        if self.pass.partials() == 0 {
            return Ok(Arguments { args, gradients: None });
        }
        let (slots, sums) = (partial_rows as usize, self.pass.partials() * self.dims.length as usize);
        let name = "the gradients of gamma and beta";
        let gradients = draft.operand(name, DType::F32, Layout::contiguous(op, &[sums])?, Access::Write);
        if slots == 1 {
            args.push((gradients, Access::Write));
            return Ok(Arguments { args, gradients: None });
        }
        dim(op, slots * sums)?;
        let partials = draft.temporary(&[slots, sums], DType::F32)?;
        args.push((partials, Access::Write));
        Ok(Arguments { args, gradients: Some([partials, gradients]) })
    }

    fn weights_arguments(&self, draft: &mut Draft<'_>, args: &mut Vec<(Region, Access)>) -> Result<()> {
        let d = &self.dims;
        for (name, is_there, offset) in
            [("gamma", self.has_gamma, d.gamma_offset), ("beta", self.has_beta, d.beta_offset)]
        {
            if is_there {
                let layout = self.weights(offset)?;
                args.push((draft.operand(name, self.dtype, layout, Access::Read), Access::Read));
            }
        }
        Ok(())
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
