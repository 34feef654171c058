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
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Plan, Region, ScalarParameter, Time};
use std::mem::offset_of;

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

    /// The step on cooperative matrices.
    fn on_matrices(&self, draft: &mut Draft<'_>, tile: CoopTile, args: &[(Region, Access)]) -> Result<()> {
        let caps = draft.caps();
        draft.step(NewStep {
            tile: tile.to_string(),
            blocks: tile.blocks(self),
            dims: Dims::of(&self.dims).scalar(offset_of!(AttentionDims, scale), 0),
            flops: CoopTile::flops(self),
            time: Time::Predicted(tile.predict(self, caps)),
            ..NewStep::of(tile.kernel(self, caps), tile.needs(self, caps), args)
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
            tile: tile.described(self, caps),
            blocks: tile.blocks(self, caps),
            dims: Dims::of(&self.dims).scalar(offset_of!(AttentionDims, scale), 0),
            flops: CoopTile::flops(self),
            time: Time::Predicted(tile.predict(self, caps)),
            ..NewStep::of(tile.kernel(self, caps), tile.needs(self, caps), args)
        })
    }

    /// The step that joins parts.
    fn merge(&self, draft: &mut Draft<'_>, form: WorkDivision, args: &[(Region, Access)]) -> Result<()> {
        let caps = draft.caps();
        let invocations = kernel::workgroup_size(LANES, caps);
        let groups = u64::from(self.dims.dim_v.div_ceil(4));
        let sums = self.rows() as f64 * f64::from(form.parts) * f64::from(self.dims.dim_v + 1);
        draft.step(NewStep {
            tile: format!("{invocations} invocations, {} parts, {}", form.parts, self.dtype),
            blocks: (self.rows() as u64 * groups).div_ceil(invocations.into()),
            dims: self.dims_on(form),
            flops: Flops::of_f32(2.0 * sums),
            ..NewStep::of(self.merge_kernel(invocations, caps), Needs::of(invocations, 0), args)
        })
    }
}
