//! The plan of an attention: one step, or two if there are so few rows that the keys are cut into parts.

use super::choice::KernelChoice;
use super::coop::CoopTile;
use super::form::{LANES, WorkDivision};
use super::problem::{AttentionDims, AttentionLayouts, AttentionProblem, AttentionStatistics, OP};
use super::range::AttentionRange;
use crate::Result;
use crate::caps::Caps;
use crate::kernel::{self, Needs};
use crate::layout::{DType, Layout};
use crate::ops::windows::JOINS;
use crate::plan::{
    Access, CutAxes, Dims, Draft, Flops, InWindows, Joins, MAX_STEP_SECONDS, NewStep, Operand, Plan, Region,
    ScalarParameter, Time, Trial, distinct,
};
use std::mem::offset_of;
use std::ops::Range;

impl AttentionProblem {
    /// The plan of a choice.
    pub(super) fn plan_by(&self, choice: KernelChoice, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new("attention", &[ScalarParameter::f32("scale")], caps);
        let inputs = draft.operands(&self.read_operands());
        let results = draft.operands(&self.result_operands()?);
        let form = match choice {
            KernelChoice::Plain(form) => form,
            KernelChoice::Coop(tile) => {
                let args: Vec<_> = inputs.into_iter().chain(results).collect();
                let step = NewStep::of(tile.kernel(self, caps), tile.needs(self, caps), &args);
                draft.step(NewStep {
                    tile: tile.to_string(),
                    blocks: tile.blocks(self),
                    time: Time::Predicted(tile.predict(self, caps)),
                    ..self.on_matrices(step)
                })?;
                return Ok(draft.finish());
            }
            KernelChoice::CoopNv2(tile) => {
                let args = self.of_module(&mut draft, &inputs, &results)?;
                let step = NewStep::of(tile.kernel(self, caps), tile.needs(self, caps), &args);
                draft.step(NewStep {
                    tile: tile.described(self, caps),
                    blocks: tile.blocks(self, caps),
                    time: Time::Predicted(tile.predict(self, caps)),
                    ..self.on_matrices(step)
                })?;
                return Ok(draft.finish());
            }
        };
        if form.parts == 1 {
            let args: Vec<_> = inputs.into_iter().chain(results).collect();
            self.first(&mut draft, form, &args)?;
            return Ok(draft.finish());
        }
        draft
            .reason(format!("{} rows would not occupy the device: their keys are cut in parts", self.rows()));
        let words = self.dims().dim_v as usize + 2;
        let parts = draft.temporary(&[self.rows(), form.parts as usize, words], DType::F32)?;
        let args: Vec<_> = inputs.into_iter().chain([(parts, Access::Write)]).collect();
        self.first(&mut draft, form, &args)?;
        let args: Vec<_> = [(parts, Access::Read)].into_iter().chain(results).collect();
        self.merge(&mut draft, form, &args)?;
        Ok(draft.finish())
    }

    /// The uniform on a device.
    fn dims_on(&self, form: WorkDivision) -> Dims {
        let d = AttentionDims { lanes: form.lanes, parts: form.parts, ..self.dims() };
        Dims::of(&d).scalar(offset_of!(AttentionDims, scale), 0)
    }

    /// What all steps on cooperative matrices have.
    fn on_matrices<'a>(&self, step: NewStep<'a>) -> NewStep<'a> {
        let dims = Dims::of(&self.dims()).scalar(offset_of!(AttentionDims, scale), 0);
        NewStep { dims, flops: CoopTile::flops(self), ..step }
    }

    /// The step that reads the operands.
    fn first(&self, draft: &mut Draft<'_>, form: WorkDivision, args: &[(Region, Access)]) -> Result<()> {
        let caps = draft.caps();
        let d = self.dims();
        let rows = d.group * d.queries;
        draft.step(NewStep {
            tile: format!("{} invocations, {} a row, {}", form.invocations, form.lanes, self.dtype),
            blocks: u64::from(form.blocks(rows)) * u64::from(d.heads) * u64::from(form.parts),
            dims: self.dims_on(form),
            flops: Flops::of_f32(self.plain_flops()),
            time: Time::SlowArithmetic { times: form.slowness(caps) },
            ..NewStep::of(
                self.kernel(form, caps),
                Needs::of(form.invocations, form.workgroup_bytes(caps)),
                args,
            )
        })
    }

    /// The operands that the module declares. In place of missing operands and unwanted results, a few words, which the module does
    /// not access.
    fn of_module(
        &self,
        draft: &mut Draft<'_>,
        inputs: &[(Region, Access)],
        results: &[(Region, Access)],
    ) -> Result<Vec<(Region, Access)>> {
        let masks = self.masks_of_module(draft, &inputs[3..])?;
        let unused = match results {
            [_, _] => None,
            _ => Some((draft.temporary(&[4], DType::F32)?, Access::Write)),
        };
        let results = results.iter().copied().chain(unused);
        Ok(inputs[..3].iter().copied().chain(masks).chain(results).collect())
    }

    /// The bias and masks that a module declares: a word in place of each missing one.
    pub(super) fn masks_of_module(
        &self,
        draft: &mut Draft<'_>,
        given: &[(Region, Access)],
    ) -> Result<[(Region, Access); 4]> {
        let mut given = given.iter().copied();
        let none = (draft.constant(&[0])?, Access::Read);
        let masks = [self.bias.is_some(), self.lengths.is_some(), self.keep.is_some(), self.slopes.is_some()];
        Ok(masks.map(|is_given| if is_given { given.next().unwrap_or(none) } else { none }))
    }

    /// The step that joins parts.
    fn merge(&self, draft: &mut Draft<'_>, form: WorkDivision, args: &[(Region, Access)]) -> Result<()> {
        let caps = draft.caps();
        let invocations = kernel::workgroup_size(LANES, caps);
        let groups = u64::from(self.dims().dim_v.div_ceil(4));
        let sums = self.rows() as f64 * f64::from(form.parts) * f64::from(self.dims().dim_v + 1);
        draft.step(NewStep {
            tile: format!("{invocations} invocations, {} parts, {}", form.parts, self.dtype),
            blocks: (self.rows() as u64 * groups).div_ceil(invocations.into()),
            dims: self.dims_on(form),
            flops: Flops::of_f32(2.0 * sums),
            ..NewStep::of(self.merge_kernel(invocations, caps), Needs::of(invocations, 0), args)
        })
    }
}

impl InWindows for AttentionProblem {
    const JOINS: Joins = JOINS;

    fn cut_axes(&self) -> Result<CutAxes> {
        let axes = if self.dims().group == 1 { 2 } else { 1 };
        Ok(CutAxes::of(
            &self.q.shape()[..axes],
            self.read_operands().into_iter().chain(self.result_operands()?),
        ))
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        let mut others = layouts[3..].iter();
        let mut next = |is_there: bool| if is_there { others.next() } else { None };
        let (bias, lengths) = (next(self.bias.is_some()), next(self.lengths.is_some()));
        let (keep, slopes) = (next(self.keep.is_some()), next(self.slopes.is_some()));
        let layouts =
            AttentionLayouts { q: &layouts[0], k: &layouts[1], v: &layouts[2], bias, lengths, keep, slopes };
        let part = Self::new(layouts, AttentionRange::default(), self.statistics, self.dtype)?;
        // Each window has all queries and keys, so distances do not change.
        Ok(Self { distances: self.distances, corner: self.corner, pin: self.pin, ..part })
    }

    /// One step, and a second one if it has to join parts of the keys. With windows, each window has these steps.
    ///
    /// Operands: Q, K, V, the bias, the key lengths, the mask of keys, the slopes; the result, the largest scores and logarithms of
    /// the sums. Missing operands are left out. Scalars: the scale.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        self.plan_by(self.choose(caps)?, caps)
    }

    fn alternatives(&self, caps: &Caps) -> Result<Vec<Plan>> {
        let mut plans = distinct(self.choices(caps)?.into_iter().map(|choice| self.plan_by(choice, caps)))?;
        plans[1..].sort_by(|a, b| a.seconds().total_cmp(&b.seconds()));
        Ok(plans)
    }

    fn reference(&self, caps: &Caps) -> Result<Option<Trial>> {
        let form = self.form(caps);
        let whole = self.plan_by(KernelChoice::Plain(WorkDivision { parts: 1, ..form }), caps)?;
        // A launch cannot be cut within a row, so few rows of many keys may take too long as a whole.
        let is_short = whole.seconds() <= MAX_STEP_SECONDS;
        let plain = if is_short { whole } else { self.plan_by(KernelChoice::Plain(form), caps)? };
        Ok(Some(self.trial_against(plain)))
    }
}

impl AttentionProblem {
    /// The operands that kernels read.
    pub(super) fn read_operands(&self) -> Vec<Operand> {
        let read = |name, layout| Operand::read(name, self.dtype, layout);
        let of_queries = [("the queries", self.q), ("the keys", self.k), ("the values", self.v)];
        of_queries.map(|(name, layout)| read(name, layout)).into_iter().chain(self.mask_operands()).collect()
    }

    /// The bias, the key lengths, the mask of keys and the slopes.
    pub(super) fn mask_operands(&self) -> impl Iterator<Item = Operand> {
        let read = |name, dtype, layout: Option<Layout>| layout.map(|of| Operand::read(name, dtype, of));
        let of_batches = [Some(0), None];
        let masks = [
            read("the bias", self.dtype, self.bias),
            read("the key lengths", DType::I32, self.lengths).map(|of| of.along(of_batches)),
            read("the mask of keys", DType::I8, self.keep).map(|of| of.along(of_batches)),
            read("the slopes", DType::F32, self.slopes).map(|of| of.along([None, Some(0)])),
        ];
        masks.into_iter().flatten()
    }

    /// The results.
    pub(super) fn result_operands(&self) -> Result<Vec<Operand>> {
        let mut results = vec![Operand::written("the result", self.dtype, self.y)];
        if self.statistics == AttentionStatistics::LogSums {
            let [batch, heads, queries] = [0, 1, 2].map(|axis| self.q.shape()[axis]);
            let rows = Layout::contiguous(OP, &[batch, heads, queries, 2])?;
            results.push(Operand::written("the largest scores and logarithms of the sums", DType::F32, rows));
        }
        Ok(results)
    }
}
