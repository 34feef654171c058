//! The plan of an attention: one step, or two if there are so few rows that the keys are cut in parts.

use super::coop::CoopTile;
use super::options::AttentionKernel;
use super::problem::{AttentionDims, AttentionProblem, AttentionStatistics, OP};
use crate::caps::Caps;
use crate::kernel::{self, Needs};
use crate::layout::{DType, Layout};
use crate::ops::subgroups::subgroup;
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Plan, Problem, Region, ScalarParameter, Time};
use crate::{Error, Result};
use std::mem::offset_of;

/// Invocations of a workgroup, if the device allows them.
pub(super) const LANES: u32 = 64;
/// The least number of keys of a part.
const KEYS_OF_PART: u32 = 64;
/// Numbers that an invocation holds besides its share of a query and of a result.
const OTHER_NUMBERS: u32 = 24;
/// Rows of an invocation, if there are enough.
const ROWS: u32 = 2;
/// Rows of an invocation of a software device.
const ROWS_OF_VECTORS: u32 = 4;
/// Numbers of queries and their results that an invocation of a software device holds: those of whole rows, so that a key is the same for
/// all invocations, which is one load, and not one for each.
const NUMBERS_OF_VECTORS: u32 = 512;

/// How invocations share the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    /// Invocations of a workgroup.
    pub(super) invocations: u32,
    /// Those that share a row.
    pub(super) lanes: u32,
    /// Groups of a query that each has.
    pub(super) held: u32,
    /// Groups of a result.
    pub(super) held_v: u32,
    /// Rows of an invocation.
    pub(super) rows: u32,
    /// Parts of the keys.
    pub(super) parts: u32,
}

impl Form {
    /// Workgroups of a number of rows.
    pub(super) fn blocks(self, there: u32) -> u32 {
        there.div_ceil(self.rows * self.invocations / self.lanes)
    }

    /// The shared memory that invocations of a row exchange values through.
    pub(super) fn workgroup_bytes(self, caps: &Caps) -> u32 {
        let is_shared = self.lanes > 1 && subgroup(caps, self.invocations).is_none();
        if is_shared { 16 * self.invocations } else { 0 }
    }
}

impl Problem for AttentionProblem {
    /// One step, or a second one that joins the parts of the keys.
    ///
    /// Operands: Q, K, V, the bias, the key lengths, the mask of keys, the slopes; the result, the logarithms of the sums. Those that
    /// the problem does not have are left out. Scalars: the scale.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new("attention", &[ScalarParameter::f32("scale")], caps);
        let form = self.form(caps);
        let read = |draft: &mut Draft<'_>, name, dtype, layout: Option<Layout>| {
            layout.map(|layout| (draft.operand(name, dtype, layout, Access::Read), Access::Read))
        };
        let inputs: Vec<(Region, Access)> = [
            read(&mut draft, "the queries", self.dtype, Some(self.q)),
            read(&mut draft, "the keys", self.dtype, Some(self.k)),
            read(&mut draft, "the values", self.dtype, Some(self.v)),
            read(&mut draft, "the bias", self.dtype, self.bias),
            read(&mut draft, "the key lengths", DType::I32, self.lengths),
            read(&mut draft, "the mask of keys", DType::I8, self.keep),
            read(&mut draft, "the slopes", DType::F32, self.slopes),
        ]
        .into_iter()
        .flatten()
        .collect();
        let mut results =
            vec![(draft.operand("the result", self.dtype, self.y, Access::Write), Access::Write)];
        if self.statistics == AttentionStatistics::LogSums {
            let rows = Layout::contiguous("attention", &[self.rows()])?;
            let name = "the logarithms of the sums";
            results.push((draft.operand(name, DType::F32, rows, Access::Write), Access::Write));
        }
        if let Some(tile) = self.tile(caps)? {
            let args: Vec<_> = inputs.into_iter().chain(results).collect();
            self.on_matrices(&mut draft, tile, &args)?;
            return Ok(draft.finish());
        }
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
}

impl AttentionProblem {
    /// Queries of all heads and batches.
    pub(super) fn rows(&self) -> usize {
        let d = &self.dims;
        d.heads as usize * d.group as usize * d.queries as usize
    }

    /// The tile on cooperative matrices that is predicted to be the fastest; None if the plain kernel is faster, or pinned.
    fn tile(&self, caps: &Caps) -> Result<Option<CoopTile>> {
        if self.pin == Some(AttentionKernel::Plain) {
            return Ok(None);
        }
        let seconds = |tile: &CoopTile| tile.predict(self, caps).seconds;
        let fitting = CoopTile::all().filter(|tile| tile.fits(self, caps).is_ok());
        let fastest = fitting.min_by(|a, b| seconds(a).total_cmp(&seconds(b)));
        if self.pin.is_some() {
            return fastest.map(Some).ok_or_else(|| {
                let mut lacking: Vec<String> =
                    CoopTile::all().filter_map(|tile| tile.fits(self, caps).err()).collect();
                lacking.dedup();
                Error::Unsupported { op: OP, needs: lacking.join(", or "), device: caps.adapter.clone() }
            });
        }
        let plain = self.plain_flops() / caps.machine.f32_flops;
        Ok(fastest.filter(|tile| seconds(tile) < plain))
    }

    /// Operations of the plain kernel.
    fn plain_flops(&self) -> f64 {
        let d = &self.dims;
        let pairs = self.rows() as f64 * f64::from(d.keys);
        pairs * (2.0 * f64::from(d.dim) + 2.0 * f64::from(d.dim_v) + 1.0)
    }

    /// How invocations share the work on a device.
    pub(super) fn form(&self, caps: &Caps) -> Form {
        let (d, machine) = (&self.dims, &caps.machine);
        let form = self.sharing(d.group * d.queries, [1, 1], self.width(), caps);
        let wanted = machine.cores.saturating_mul(machine.workgroups_per_core);
        let parts = wanted / form.blocks(d.group * d.queries).saturating_mul(d.heads).max(1);
        Form { parts: parts.min(d.keys / KEYS_OF_PART).max(1), ..form }
    }

    /// How invocations share the rows of a key head, with one part of the keys. A row holds a number of vectors as long as the head dim of
    /// queries, and a number as long as that of values; an invocation loads `width` elements of them together.
    pub(super) fn sharing(
        &self,
        there: u32,
        [vectors, vectors_v]: [u32; 2],
        width: u32,
        caps: &Caps,
    ) -> Form {
        let (d, machine) = (&self.dims, &caps.machine);
        let is_software = machine.runs_in_turn();
        let invocations =
            kernel::workgroup_size(if is_software { machine.vector_lanes } else { LANES }, caps);
        let invocations = 1 << invocations.ilog2();
        let held = |of: u32, lanes: u32| of.div_ceil(width).div_ceil(lanes);
        let of_row = |lanes| (vectors * held(d.dim, lanes) + vectors_v * held(d.dim_v, lanes)) * width;
        let (most_rows, numbers) = if is_software {
            // As many rows as one invocation can have by itself.
            ((NUMBERS_OF_VECTORS / of_row(1)).min(ROWS_OF_VECTORS), NUMBERS_OF_VECTORS)
        } else {
            (ROWS, machine.registers.saturating_sub(OTHER_NUMBERS))
        };
        let rows = (there / invocations).min(most_rows).max(1);
        let rows = 1 << rows.ilog2();
        let groups = d.dim.max(d.dim_v).div_ceil(width);
        let widest = subgroup(caps, invocations).unwrap_or(invocations).min(groups.next_power_of_two());
        let mut lanes = 1;
        // Of few rows, invocations that would have none take a share.
        while lanes < widest
            && (of_row(lanes) * rows > numbers || (!is_software && 2 * lanes * there <= invocations / 2))
        {
            lanes *= 2;
        }
        Form { invocations, lanes, held: held(d.dim, lanes), held_v: held(d.dim_v, lanes), rows, parts: 1 }
    }

    /// The uniform on a device.
    fn dims_on(&self, form: Form) -> Dims {
        let d = AttentionDims { lanes: form.lanes, parts: form.parts, ..self.dims };
        Dims::of(&d).scalar(offset_of!(AttentionDims, scale), 0)
    }

    /// The step that reads the operands.
    fn first(&self, draft: &mut Draft<'_>, form: Form, args: &[(Region, Access)]) -> Result<()> {
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
            time: Time::Roofline,
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

    /// The step that joins parts.
    fn merge(&self, draft: &mut Draft<'_>, form: Form, args: &[(Region, Access)]) -> Result<()> {
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
