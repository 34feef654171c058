//! The plan of an attention: one step, or two if there are so few rows that the keys are cut into parts.

use super::choice::KernelChoice;
use super::coop::CoopTile;
use super::coop_nv2::Nv2Tile;
use super::form::{LANES, WorkDivision};
use super::problem::{AttentionDims, AttentionProblem};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::{self, Needs};
use crate::layout::DType;
use crate::ops::windows::JOINS;
use crate::plan::{
    Access, Dims, Draft, Flops, MAX_STEP_SECONDS, NewStep, Plan, Problem, Region, ScalarParameter, Time,
    Trial, distinct, plan_in_windows,
};
use std::mem::offset_of;

impl Problem for AttentionProblem {
    /// One step, and a second one if it has to join parts of the keys. With windows, each window has these steps.
    ///
    /// Operands: Q, K, V, the bias, the key lengths, the mask of keys, the slopes; the result, the largest scores and logarithms of
    /// the sums. Missing operands are left out. Scalars: the scale.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        plan_in_windows(self, caps, JOINS)
    }

    fn candidates(&self, caps: &Caps) -> Result<Vec<Plan>> {
        let mut plans = distinct(self.choices(caps)?.into_iter().map(|choice| self.plan_by(choice, caps)))?;
        plans[1..].sort_by(|a, b| a.seconds().total_cmp(&b.seconds()));
        Ok(plans)
    }

    fn trial(&self, caps: &Caps) -> Result<Option<Trial>> {
        let form = self.form(caps);
        let whole = self.plan_by(KernelChoice::Plain(WorkDivision { parts: 1, ..form }), caps)?;
        // A launch cannot be cut within a row, so few rows of many keys may take too long as a whole.
        let is_short = whole.seconds() <= MAX_STEP_SECONDS;
        let reference = if is_short { whole } else { self.plan_by(KernelChoice::Plain(form), caps)? };
        Ok(Some(self.trial_by(reference)))
    }
}

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
                self.on_matrices(&mut draft, tile, &args)?;
                return Ok(draft.finish());
            }
            KernelChoice::CoopNv2(tile) => {
                let args = self.of_module(&mut draft, &inputs, &results)?;
                self.in_registers(&mut draft, tile, &args)?;
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
        let words = self.dims.dim_v as usize + 2;
        let parts = draft.temporary(&[self.rows(), form.parts as usize, words], DType::F32)?;
        let args: Vec<_> = inputs.into_iter().chain([(parts, Access::Write)]).collect();
        self.first(&mut draft, form, &args)?;
        let args: Vec<_> = [(parts, Access::Read)].into_iter().chain(results).collect();
        self.merge(&mut draft, form, &args)?;
        Ok(draft.finish())
    }

    /// The uniform on a device.
    fn dims_on(&self, form: WorkDivision) -> Dims {
        let d = AttentionDims { lanes: form.lanes, parts: form.parts, ..self.dims };
        Dims::of(&d).scalar(offset_of!(AttentionDims, scale), 0)
    }

    /// The step that reads the operands.
    fn first(&self, draft: &mut Draft<'_>, form: WorkDivision, args: &[(Region, Access)]) -> Result<()> {
        let caps = draft.caps();
        let d = &self.dims;
        let rows = d.group * d.queries;
        draft.step(NewStep {
            kernel: self.kernel(form, caps),
            tile: format!("{} invocations, {} a row, {}", form.invocations, form.lanes, self.dtype),
            needs: Needs {
                bindings: u32::try_from(args.len()).unwrap_or(u32::MAX),
                invocations: form.invocations,
                workgroup_bytes: form.workgroup_bytes(caps),
            },
            blocks: u64::from(form.blocks(rows)) * u64::from(d.heads) * u64::from(form.parts),
            dims: self.dims_on(form),
            args,
            flops: Flops::of_f32(self.plain_flops()),
            time: Time::SlowArithmetic { times: form.slowness(caps) },
        })
    }

    /// The step on cooperative matrices.
    fn on_matrices(&self, draft: &mut Draft<'_>, tile: CoopTile, args: &[(Region, Access)]) -> Result<()> {
        let caps = draft.caps();
        draft.step(NewStep {
            kernel: tile.kernel(self, caps),
            tile: tile.to_string(),
            needs: tile.needs(self, caps),
            blocks: tile.blocks(self),
            dims: Dims::of(&self.dims).scalar(offset_of!(AttentionDims, scale), 0),
            args,
            flops: CoopTile::flops(self),
            time: Time::Predicted(tile.predict(self, caps)),
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
        let mut given = inputs[3..].iter().copied();
        let none = (draft.constant(&[0])?, Access::Read);
        let masks = [self.bias.is_some(), self.lengths.is_some(), self.keep.is_some(), self.slopes.is_some()];
        let masks = masks.map(|is_there| if is_there { given.next().unwrap_or(none) } else { none });
        let unused = match results {
            [_, _] => None,
            _ => Some((draft.temporary(&[4], DType::F32)?, Access::Write)),
        };
        let results = results.iter().copied().chain(unused);
        Ok(inputs[..3].iter().copied().chain(masks).chain(results).collect())
    }

    /// The step on cooperative matrices that keeps scores in registers.
    fn in_registers(&self, draft: &mut Draft<'_>, tile: Nv2Tile, args: &[(Region, Access)]) -> Result<()> {
        let caps = draft.caps();
        draft.step(NewStep {
            kernel: tile.kernel(self, caps),
            tile: tile.described(self, caps),
            needs: tile.needs(self, caps),
            blocks: tile.blocks(self, caps),
            dims: Dims::of(&self.dims).scalar(offset_of!(AttentionDims, scale), 0),
            args,
            flops: CoopTile::flops(self),
            time: Time::Predicted(tile.predict(self, caps)),
        })
    }

    /// The step that joins parts.
    fn merge(&self, draft: &mut Draft<'_>, form: WorkDivision, args: &[(Region, Access)]) -> Result<()> {
        let caps = draft.caps();
        let invocations = kernel::workgroup_size(LANES, caps);
        let groups = u64::from(self.dims.dim_v.div_ceil(4));
        let sums = self.rows() as f64 * f64::from(form.parts) * f64::from(self.dims.dim_v + 1);
        draft.step(NewStep {
            kernel: self.merge_kernel(invocations, caps),
            tile: format!("{invocations} invocations, {} parts, {}", form.parts, self.dtype),
            needs: Needs {
                bindings: u32::try_from(args.len()).unwrap_or(u32::MAX),
                invocations,
                workgroup_bytes: 0,
            },
            blocks: (self.rows() as u64 * groups).div_ceil(invocations.into()),
            dims: self.dims_on(form),
            args,
            flops: Flops::of_f32(2.0 * sums),
            time: Time::Roofline,
        })
    }
}
