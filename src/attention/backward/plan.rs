//! The plan of a backward pass: statistics of rows, then gradients of queries, and of keys and values; or of the bias.

use super::coop::GradientTile;
use super::coop_nv2::Nv2GradientTile;
use super::kernel::GradientPass;
use super::problem::{AttentionBackward, AttentionBackwardDims, AttentionGradientsOf, OP};
use crate::attention::form::LANES;
use crate::attention::problem::width;
use crate::attention::range::AttentionKernel;
use crate::caps::Caps;
use crate::kernel::{self, Needs};
use crate::layout::DType;
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Plan, Region, ScalarParameter, Time};
use crate::{Error, Result};
use std::mem::offset_of;

/// A tile on cooperative matrices.
enum MatrixTile {
    Coop(GradientTile),
    CoopNv2(Nv2GradientTile),
}

/// A region of a step, and what the step does with it.
type BoundRegion = (Region, Access);

impl AttentionBackward {
    /// The plan, if every operand fits into a binding.
    pub(super) fn of_one(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new("attention_backward", &[ScalarParameter::f32("scale")], caps);
        let read = draft.operands(&self.read_operands());
        let [q, k, v, y, lse, g, masks @ ..] = &read[..] else {
            return Err(Error::device("a backward pass has six operands"));
        };
        let stats = draft.temporary(&[self.forward.rows(), 4], DType::F32)?;
        self.delta(&mut draft, &[*y, *g, *lse, (stats, Access::Write)])?;
        let results = draft.operands(&self.result_operands()?);
        let with = |result: &BoundRegion| -> Vec<BoundRegion> {
            let inputs = [*q, *k, *v, *g, (stats, Access::Read)];
            inputs.into_iter().chain(masks.iter().copied()).chain([*result]).collect()
        };
        match (self.of, &results[..]) {
            (AttentionGradientsOf::Operands, [dq, dkv]) => {
                self.gradients(&mut draft, GradientPass::Queries, &with(dq))?;
                self.gradients(&mut draft, GradientPass::KeysAndValues, &with(dkv))?;
            }
            (AttentionGradientsOf::Bias(bias) | AttentionGradientsOf::PartOfBias(bias), [db]) => {
                self.of_bias(&mut draft, bias.len(), &with(db))?;
            }
            _ => return Err(Error::device("a backward pass has other results")),
        }
        Ok(draft.finish())
    }

    /// The step that computes the statistics of each row.
    fn delta(&self, draft: &mut Draft<'_>, args: &[BoundRegion]) -> Result<()> {
        let caps = draft.caps();
        let invocations = kernel::workgroup_size(LANES, caps);
        let d = &self.delta_dims;
        draft.step(NewStep {
            tile: format!("{invocations} invocations, {}", self.forward.dtype),
            blocks: u64::from(d.rows.div_ceil(invocations)),
            dims: Dims::of(d),
            flops: Flops::of_f32(2.0 * f64::from(d.rows) * f64::from(d.dim_v)),
            ..NewStep::of(self.delta_kernel(invocations, caps), Needs::of(invocations, 0), args)
        })
    }

    /// The step that computes gradients of queries, or of keys and values.
    fn gradients(&self, draft: &mut Draft<'_>, pass: GradientPass, args: &[BoundRegion]) -> Result<()> {
        let caps = draft.caps();
        let d = &self.dims;
        // An invocation holds queries, gradients of the result and of queries; or keys, values, and the gradients of both.
        let (there, vectors) = match pass {
            GradientPass::Queries => (d.group * d.queries, [2, 1]),
            GradientPass::KeysAndValues => (d.keys, [2, 2]),
        };
        let [of_dim, of_dim_v] = pass.products();
        let of_pair = of_dim * f64::from(d.dim) + of_dim_v * f64::from(d.dim_v) + 1.0;
        let flops = self.pairs() * of_pair;
        match self.on_matrices(pass, flops, caps)? {
            Some(MatrixTile::Coop(tile)) => {
                let bindings = u32::try_from(args.len()).unwrap_or(u32::MAX);
                return draft.step(NewStep {
                    tile: tile.to_string(),
                    blocks: tile.blocks(self, there),
                    dims: self.dims_on(1),
                    flops: GradientTile::flops(self, pass),
                    time: Time::Predicted(tile.predict(self, pass, caps)),
                    ..NewStep::of(tile.kernel(self, pass, caps), tile.needs(self, pass, bindings, caps), args)
                });
            }
            Some(MatrixTile::CoopNv2(tile)) => {
                let args = self.of_module(draft, args)?;
                return draft.step(NewStep {
                    tile: tile.described(self, caps),
                    blocks: tile.blocks(self, there, caps),
                    dims: self.dims_on(1),
                    flops: GradientTile::flops(self, pass),
                    time: Time::Predicted(tile.predict(self, pass, caps)),
                    ..NewStep::of(tile.kernel(self, pass, caps), tile.needs(self, caps), &args)
                });
            }
            None => {}
        }
        let width = width(self.moves(), self.forward.dtype);
        let form = self.forward.sharing(there, vectors, width, caps);
        draft.step(NewStep {
            tile: format!("{} invocations, {} a row, {}", form.invocations, form.lanes, self.forward.dtype),
            blocks: u64::from(form.blocks(there)) * u64::from(d.heads),
            dims: self.dims_on(form.lanes),
            flops: Flops::of_f32(flops),
            ..NewStep::of(
                self.kernel(pass, form, caps),
                Needs::of(form.invocations, form.workgroup_bytes(caps)),
                args,
            )
        })
    }

    /// The operands that the module declares. In place of missing ones, a word, which the module does not access.
    fn of_module(&self, draft: &mut Draft<'_>, args: &[BoundRegion]) -> Result<Vec<BoundRegion>> {
        let forward = &self.forward;
        let masks = [&forward.bias, &forward.lengths, &forward.keep, &forward.slopes].map(Option::is_some);
        let mut given = args[5..].iter().copied();
        let none = (draft.constant(&[0])?, Access::Read);
        let masks = masks.map(|is_there| if is_there { given.next().unwrap_or(none) } else { none });
        Ok(args[..3].iter().chain(&masks).chain(&args[3..5]).chain(args.last()).copied().collect())
    }

    /// The tile on cooperative matrices with the shortest predicted time. Tiles in WGSL come before those of modules, because
    /// modules have not been measured on a GPU. None if the plain kernel, with these operations, is faster, or pinned.
    fn on_matrices(&self, pass: GradientPass, plain: f64, caps: &Caps) -> Result<Option<MatrixTile>> {
        let in_wgsl = || GradientTile::fastest(self, pass, caps).map(MatrixTile::Coop);
        let in_registers = || Nv2GradientTile::fastest(self, pass, caps).map(MatrixTile::CoopNv2);
        let needs = |lacking| Error::Unsupported { op: OP, needs: lacking, device: caps.adapter.clone() };
        match self.forward.pin {
            Some(AttentionKernel::Plain) => Ok(None),
            Some(AttentionKernel::Coop) => {
                let tile = in_wgsl().ok_or_else(|| needs(GradientTile::lacking(self, pass, caps)))?;
                Ok(Some(tile))
            }
            Some(AttentionKernel::CoopNv2) => {
                let tile = in_registers().ok_or_else(|| needs(Nv2GradientTile::lacking(self, pass, caps)))?;
                Ok(Some(tile))
            }
            None => {
                let fastest = in_wgsl().or_else(in_registers);
                let seconds = |tile: &MatrixTile| match tile {
                    MatrixTile::Coop(tile) => tile.predict(self, pass, caps).seconds,
                    MatrixTile::CoopNv2(tile) => tile.predict(self, pass, caps).seconds,
                };
                Ok(fastest.filter(|tile| seconds(tile) < plain / caps.machine.f32_flops))
            }
        }
    }

    /// The step that computes the gradient of a bias of a number of elements.
    fn of_bias(&self, draft: &mut Draft<'_>, elements: usize, args: &[BoundRegion]) -> Result<()> {
        let caps = draft.caps();
        let invocations = kernel::workgroup_size(LANES, caps);
        let of_pair = 2.0 * f64::from(self.dims.dim) + 2.0 * f64::from(self.dims.dim_v) + 1.0;
        draft.step(NewStep {
            tile: format!("{invocations} invocations, {}", self.forward.dtype),
            blocks: (elements as u64).div_ceil(4).div_ceil(invocations.into()),
            dims: self.dims_on(1),
            flops: Flops::of_f32(self.pairs() * of_pair),
            ..NewStep::of(self.bias_kernel(invocations, caps), Needs::of(invocations, 0), args)
        })
    }

    /// The uniform, with a number of invocations for each row.
    fn dims_on(&self, lanes: u32) -> Dims {
        let d = AttentionBackwardDims { lanes, ..self.dims };
        Dims::of(&d).scalar(offset_of!(AttentionBackwardDims, scale), 0)
    }
}
