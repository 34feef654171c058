//! The plan of a norm of channels: one step if there are enough workgroups, otherwise three for the moments of chunks of
//! rows, the statistics and the norm. The backward pass is similar. Operands that are larger than a binding are cut into
//! windows.

use super::kernel::{ChannelKernel, UNIT_LANES};
use super::problem::{ChannelDims, ChannelPass, ChannelProblem, LANES};
use super::windows::RowWindows;
use crate::caps::Caps;
use crate::kernel::{self, Needs};
use crate::layout::{DType, Layout};
use crate::ops::norm::layouts::NormLayouts;
use crate::ops::windows::JOINS;
use crate::plan::{
    Access, CutAxes, Dims, Draft, Flops, InWindows, Joins, NewStep, Plan, Region, ScalarParameter,
};
use crate::{Error, Result};
use std::mem::offset_of;
use std::ops::Range;

/// The operands of a call, by their use.
#[derive(Clone, Copy)]
struct Operands {
    a: Region,
    b: Option<Region>,
    gamma: Option<Region>,
    beta: Option<Region>,
    /// Means, and variances in evaluation, otherwise reciprocal deviations. The forward pass returns the statistics that
    /// it computes.
    statistics: [Region; 2],
}

impl InWindows for ChannelProblem {
    const JOINS: Joins = JOINS;

    /// The outer axis, and the inner one if statistics are given.
    fn cut_axes(&self) -> Result<CutAxes> {
        let axes = if self.pass.is_evaluation() { 2 } else { 1 };
        let operands = if self.pass.is_backward() {
            self.operands_backward()?.into_iter().flatten().collect::<Vec<_>>()
        } else {
            self.operands()?.into_iter().flatten().collect()
        };
        Ok(CutAxes::of(&self.shape()[..axes], operands))
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        let mut others = layouts[1..].iter();
        let mut next = |is_there: bool| if is_there { others.next() } else { None };
        let (b, gamma, beta) = (next(self.pass.is_backward()), next(self.has_gamma), next(self.has_beta));
        let layouts = NormLayouts { a: &layouts[0], b, gamma, beta };
        let groups = (self.dims.channels / self.dims.of_group) as usize;
        Self::new(self.op, self.pass, layouts, groups, self.dtype)
    }

    /// A forward pass has one step or three, a backward pass up to four. With windows, each window has its own steps.
    ///
    /// Operands of a forward pass: A, gamma, beta, given statistics (the means and variances in evaluation, or running ones in
    /// training); the result, the means, the variances, the reciprocal deviations, the updated running statistics. Of a backward
    /// pass: A, the gradient, gamma, the means, the reciprocal deviations (variances in evaluation); the gradient of A, those of
    /// gamma and beta. Operands that the problem does not use are left out. Scalars: eps and momentum.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let scalars = [ScalarParameter::f32("eps"), ScalarParameter::f32("momentum")];
        let mut draft = Draft::new(self.op, &scalars, caps);
        if self.pass.is_backward() {
            self.backward(&mut draft)?
        } else {
            self.forward(&mut draft)?
        }
        Ok(draft.finish())
    }
}

impl ChannelProblem {
    fn forward(&self, draft: &mut Draft<'_>) -> Result<()> {
        let [a, gamma, beta, mean, variance, y, means, variances, rstds, new_mean, new_variance] =
            draft.regions(self.operands()?);
        let given = mean.zip(variance).map(<[Region; 2]>::from);
        let (Some(a), Some(y)) = (a, y) else {
            return Err(Error::device("a norm has an operand and a result"));
        };
        let (Some(statistics), ChannelPass::Evaluation) = (given, self.pass) else {
            let statistics = [means, variances, rstds, new_mean, new_variance];
            let statistics: Vec<_> = statistics.into_iter().flatten().map(|of| (of, Access::Write)).collect();
            let running = given.into_iter().flatten().map(|of| (of, Access::Read));
            let windows = self.row_windows(draft.caps())?;
            if let Some(whole) = self.whole(draft.caps()).filter(|_| windows.ranges.len() == 1) {
                let read = [Some(a), gamma, beta].into_iter().flatten().map(|of| (of, Access::Read));
                let args: Vec<_> =
                    read.chain([(y, Access::Write)]).chain(running).chain(statistics).collect();
                return self.whole_step(draft, whole, &args);
            }
            let moments =
                self.of_chunks(draft, &windows, [Some(a), None], |part, draft, [a, _], moments| {
                    let read = a.into_iter().map(|of| (of, Access::Read));
                    let args: Vec<_> = read.chain([(moments, Access::Write)]).collect();
                    part.step(draft, ChannelKernel::Moments, &args)
                })?;
            let args: Vec<_> =
                [(moments, Access::Update)].into_iter().chain(running).chain(statistics).collect();
            self.in_chunks_of(&windows).step(draft, ChannelKernel::Statistics, &args)?;
            // The moments contain the means with more digits.
            let operands =
                Operands { a, b: None, gamma, beta, statistics: [moments, rstds.unwrap_or(moments)] };
            return self.results(draft, &windows, ChannelKernel::Norm, &operands, None, y);
        };
        let operands = Operands { a, b: None, gamma, beta, statistics };
        self.step(draft, ChannelKernel::Norm, &operands.args(None, (y, Access::Write)))
    }

    fn backward(&self, draft: &mut Draft<'_>) -> Result<()> {
        let [a, b, gamma, means, deviations, y, gradients] = draft.regions(self.operands_backward()?);
        let (Some(a), Some(b), Some(means), Some(deviations), Some(y)) = (a, b, means, deviations, y) else {
            return Err(Error::device("a backward pass has an operand, a gradient and statistics"));
        };
        let (statistics, channels, units) = ([means, deviations], self.dims.channels as usize, self.units());
        let operands = Operands { a, b: Some(b), gamma, beta: None, statistics };
        let is_evaluation = self.pass.is_evaluation();
        let windows = self.row_windows(draft.caps())?;
        let mut shifts = None;
        if !is_evaluation || gradients.is_some() {
            let sums = self.of_chunks(draft, &windows, [Some(a), Some(b)], |part, draft, own, sums| {
                let read = own.into_iter().flatten().chain(statistics).map(|of| (of, Access::Read));
                let args: Vec<_> = read.chain([(sums, Access::Write)]).collect();
                part.step(draft, ChannelKernel::Sums, &args)
            })?;
            let rows = sums.layout.shape()[0];
            if !is_evaluation {
                let of_units = draft.temporary(&[3 * units], DType::F32)?;
                let access = if self.corrects_sums() { Access::Update } else { Access::Read };
                let mut args = vec![(sums, access)];
                args.extend(gamma.map(|gamma| (gamma, Access::Read)));
                args.push((of_units, Access::Write));
                args.extend(gradients.filter(|_| self.has_whole_channels()).map(|of| (of, Access::Write)));
                self.in_chunks_of(&windows).step(draft, ChannelKernel::Means, &args)?;
                shifts = Some(of_units);
            }
            if let Some(gradients) = gradients.filter(|_| is_evaluation || !self.has_whole_channels()) {
                // The first two rows of each chunk.
                let both = Layout::new(self.op, &[rows, 2 * channels], &[3 * channels, 1], 0, usize::MAX)?;
                JOINS.sum(draft, sums.with_layout(both), gradients)?;
            }
        }
        self.results(draft, &windows, ChannelKernel::Backward, &operands, shifts, y)
    }

    /// Adds the step that computes a result of A's shape, for each window of rows.
    fn results(
        &self,
        draft: &mut Draft<'_>,
        windows: &RowWindows,
        which: ChannelKernel,
        operands: &Operands,
        shifts: Option<Region>,
        y: Region,
    ) -> Result<()> {
        for range in &windows.ranges {
            let (part, own) = self.of_rows(draft, windows, range, [Some(operands.a), operands.b])?;
            let own = Operands { a: own[0].unwrap_or(operands.a), b: own[1], ..*operands };
            self.result_of_rows(draft, windows, (range, y), |draft, y| {
                part.step(draft, which, &own.args(shifts, (y, Access::Write)))
            })?;
        }
        if windows.ranges.len() > 1 {
            draft.reason(format!(
                "{} windows of rows: an operand exceeds the largest binding",
                windows.ranges.len()
            ));
        }
        Ok(())
    }

    /// Adds a step with a kernel.
    fn step(&self, draft: &mut Draft<'_>, which: ChannelKernel, args: &[(Region, Access)]) -> Result<()> {
        let caps = draft.caps();
        let d = self.dims_on(caps);
        let lanes = if which.is_of_units() { UNIT_LANES } else { kernel::workgroup_size(LANES, caps) };
        let blocks = if which.is_of_units() {
            self.units().div_ceil(UNIT_LANES as usize) as u64
        } else {
            let across = u64::from(d.channels.div_ceil(4 * self.quads()).div_ceil(d.lanes));
            across * u64::from(d.chunks) * u64::from(d.outer)
        };
        let workgroup_bytes = match which {
            ChannelKernel::Moments => 52 * lanes,
            ChannelKernel::Sums => 48 * lanes,
            _ => 0,
        };
        let elements = f64::from(d.outer) * f64::from(d.inner) * f64::from(d.channels);
        let sums = f64::from(d.outer) * f64::from(d.chunks) * f64::from(d.channels);
        let flops = match which {
            ChannelKernel::Moments | ChannelKernel::Sums => 5.0 * elements,
            ChannelKernel::Norm => 3.0 * elements,
            ChannelKernel::Backward => 7.0 * elements,
            ChannelKernel::Statistics | ChannelKernel::Means => 5.0 * sums,
        };
        let dims = Dims::of(&d).scalar(offset_of!(ChannelDims, eps), 0);
        draft.step(NewStep {
            tile: format!("{lanes} invocations, {} chunks of {} rows, {}", d.chunks, d.each, self.dtype),
            blocks,
            dims: dims.scalar(offset_of!(ChannelDims, momentum), 1),
            flops: Flops::of_f32(flops),
            ..NewStep::of(self.kernel(which, caps), Needs::of(lanes, workgroup_bytes), args)
        })
    }
}

impl Operands {
    /// The arguments of the kernels that compute a result of A's shape.
    fn args(&self, shifts: Option<Region>, y: (Region, Access)) -> Vec<(Region, Access)> {
        let [means, deviations] = self.statistics;
        let read = [Some(self.a), self.b, self.gamma, self.beta, Some(means), Some(deviations), shifts];
        read.into_iter().flatten().map(|of| (of, Access::Read)).chain([y]).collect()
    }
}
