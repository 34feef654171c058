//! The plan of a backward pass: statistics of rows, then gradients of queries, and of keys and values; or of the bias.

use super::coop::GradientTile;
use super::coop_nv2::Nv2GradientTile;
use super::problem::{AttentionBackward, AttentionBackwardDims, AttentionGradientsOf, GradientPass, OP};
use crate::attention::form::LANES;
use crate::attention::problem::{AttentionProblem, width};
use crate::attention::range::AttentionKernel;
use crate::caps::Caps;
use crate::kernel::{self, Needs};
use crate::layout::{DType, Layout};
use crate::ops::windows::JOINS;
use crate::plan::{
    Access, CutAxes, Dims, Draft, Flops, Form, InWindows, Joins, NewStep, Operand, Plan, Prediction, Region,
    ScalarParameter, Time,
};
use crate::{Error, Result};
use std::mem::offset_of;
use std::ops::Range;

/// A tile on cooperative matrices.
enum MatrixTile {
    Coop(GradientTile),
    CoopNv2(Nv2GradientTile),
}

impl MatrixTile {
    fn predict(&self, problem: &AttentionBackward, pass: GradientPass, caps: &Caps) -> Prediction {
        match self {
            Self::Coop(tile) => tile.predict(problem, pass, caps),
            Self::CoopNv2(tile) => tile.predict(problem, pass, caps),
        }
    }
}

/// A region of a step, and what the step does with it.
type BoundRegion = (Region, Access);

impl AttentionBackward {
    /// The step that computes the statistics of each row.
    fn delta(&self, draft: &mut Draft<'_>, args: &[BoundRegion]) -> Result<()> {
        let caps = draft.caps();
        let invocations = kernel::workgroup_size(LANES, caps);
        let d = self.delta_dims();
        draft.step(NewStep {
            tile: format!("{invocations} invocations, {}", self.forward.dtype),
            blocks: u64::from(d.rows.div_ceil(invocations)),
            dims: Dims::of(&d),
            flops: Flops::of_f32(2.0 * f64::from(d.rows) * f64::from(d.dim_v)),
            ..NewStep::of(self.delta_kernel(invocations, caps), Needs::of(invocations, 0), args)
        })
    }

    /// The step that computes gradients of queries, or of keys and values.
    fn gradients(&self, draft: &mut Draft<'_>, pass: GradientPass, args: &[BoundRegion]) -> Result<()> {
        let caps = draft.caps();
        let d = self.forward.dims();
        // An invocation holds queries, gradients of the result and of queries; or keys, values, and the gradients of both.
        let vectors = if pass == GradientPass::Queries { [2, 1] } else { [2, 2] };
        let [there, _] = self.rows_and_others(pass);
        let [of_dim, of_dim_v] = pass.products();
        let of_pair = of_dim * f64::from(d.dim) + of_dim_v * f64::from(d.dim_v) + 1.0;
        let flops = self.pairs() * of_pair;
        if let Some(tile) = self.on_matrices(pass, flops, caps)? {
            let prediction = tile.predict(self, pass, caps);
            let (words, blocks, kernel, needs, args) = match tile {
                MatrixTile::Coop(tile) => {
                    let bindings = u32::try_from(args.len()).unwrap_or(u32::MAX);
                    let needs = tile.needs(self, pass, bindings, caps);
                    let kernel = tile.kernel(self, pass, caps);
                    (tile.to_string(), tile.blocks(self, there), kernel, needs, args.to_vec())
                }
                MatrixTile::CoopNv2(tile) => {
                    let (kernel, args) = (tile.kernel(self, pass, caps), self.of_module(draft, args)?);
                    let words = tile.described(self, caps);
                    (words, tile.blocks(self, there, caps), kernel, tile.needs(self, caps), args)
                }
            };
            return draft.step(NewStep {
                tile: words,
                blocks,
                dims: self.dims_on(1),
                flops: GradientTile::flops(self, pass),
                time: Time::Predicted(prediction),
                ..NewStep::of(kernel, needs, &args)
            });
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
        let masks = self.forward.masks_of_module(draft, &args[5..])?;
        Ok(args[..3].iter().chain(&masks).chain(&args[3..5]).chain(args.last()).copied().collect())
    }

    /// The tile on cooperative matrices with the shortest predicted time. Tiles in WGSL come before those of modules, because
    /// modules have not been measured on a GPU. None if the plain kernel, with these operations, is faster, or pinned.
    fn on_matrices(&self, pass: GradientPass, plain: f64, caps: &Caps) -> Result<Option<MatrixTile>> {
        let in_wgsl = || GradientTile::fastest(self, pass, caps).map(MatrixTile::Coop);
        let in_registers = || Nv2GradientTile::fastest(self, pass, caps).map(MatrixTile::CoopNv2);
        let needs = |lacking: String| caps.unsupported(OP, lacking);
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
                let seconds = |tile: &MatrixTile| tile.predict(self, pass, caps).seconds;
                Ok(fastest.filter(|tile| seconds(tile) < plain / caps.machine.f32_flops))
            }
        }
    }

    /// The step that computes the gradient of a bias of a number of elements.
    fn of_bias(&self, draft: &mut Draft<'_>, elements: usize, args: &[BoundRegion]) -> Result<()> {
        let caps = draft.caps();
        let invocations = kernel::workgroup_size(LANES, caps);
        draft.step(NewStep {
            tile: format!("{invocations} invocations, {}", self.forward.dtype),
            blocks: (elements as u64).div_ceil(4).div_ceil(invocations.into()),
            dims: self.dims_on(1),
            flops: Flops::of_f32(self.forward.plain_flops()),
            ..NewStep::of(self.bias_kernel(invocations, caps), Needs::of(invocations, 0), args)
        })
    }

    /// The uniform, with a number of invocations for each row.
    fn dims_on(&self, lanes: u32) -> Dims {
        let d = AttentionBackwardDims { lanes, ..self.dims() };
        Dims::of(&d).scalar(offset_of!(AttentionBackwardDims, scale), 0)
    }
}

impl InWindows for AttentionBackward {
    const JOINS: Joins = JOINS;

    fn cut_axes(&self) -> Result<CutAxes> {
        let forward = &self.forward;
        let extents: [usize; 2] = [0, 1].map(|axis| forward.q.shape()[axis]);
        let bias = self.bias_gradient();
        let own = bias.map(|bias| [0, 1].map(|axis| axis_of_bias(&bias, axis)));
        // If a bias has only one of the axes batches and heads, it is not cut along the other one.
        let axes: Vec<usize> = match own {
            Some(own) if !self.adds_up(own) => {
                (0..self.most_axes()).filter(|&axis| own[axis].is_some()).collect()
            }
            _ => (0..self.most_axes()).collect(),
        };
        let cut: Vec<usize> = axes.iter().map(|&axis| extents[axis]).collect();
        let operands = self.read_operands().into_iter().chain(self.result_operands()?);
        Ok(CutAxes::of(&cut, operands.map(|operand| operand.along_these(&axes))))
    }

    fn part(&self, layouts: &[Layout], ranges: &[Range<usize>]) -> Result<Self> {
        let AttentionProblem { bias, lengths, keep, slopes, .. } = &self.forward;
        let masks = [bias, lengths, keep, slopes].into_iter().flatten().count();
        let [q, k, v, y, lse, g, others @ ..] = layouts else { return Ok(*self) };
        let of_forward: Vec<Layout> = [q, k, v].into_iter().chain(&others[..masks]).copied().collect();
        let forward = self.forward.part(&of_forward, ranges)?;
        let of_bias = || Layout::contiguous(OP, others[masks].shape());
        let of = match self.of {
            AttentionGradientsOf::Operands => AttentionGradientsOf::Operands,
            AttentionGradientsOf::Bias(_) => AttentionGradientsOf::Bias(of_bias()?),
            AttentionGradientsOf::PartOfBias(_) => AttentionGradientsOf::PartOfBias(of_bias()?),
        };
        Self::new(forward, [y, lse, g], of)
    }

    /// Three steps, or two for a bias; with windows, each window has these steps.
    ///
    /// Operands: Q, K, V, the result, the largest scores and logarithms of the sums, the gradient of the result, the bias, the key
    /// lengths, the mask of keys, the slopes; then the gradient of Q and those of K and V, or that of the bias. Missing operands
    /// are left out. Scalars: the scale.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
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

    /// The gradients of the keys and those of the values.
    fn put(
        &self,
        draft: &mut Draft<'_>,
        joins: &Joins,
        part: &Self,
        [from, to]: [Region; 2],
        ranges: &[Range<usize>],
    ) -> Result<()> {
        for (all, own) in [(self.dk, part.dk), (self.dv, part.dv)] {
            let window =
                ranges.iter().enumerate().try_fold(all, |of, (axis, range)| of.slice(axis, range.clone()))?;
            joins.copy(draft, from.with_layout(own), to.with_layout(window))?;
        }
        Ok(())
    }
}

impl AttentionBackward {
    /// The axes along which it may be cut. Heads that share keys are computed together.
    fn most_axes(&self) -> usize {
        if self.forward.dims().group == 1 { 2 } else { 1 }
    }
}

impl AttentionBackward {
    /// The operands that kernels read. The masks follow the others.
    pub(super) fn read_operands(&self) -> Vec<Operand> {
        let (forward, dtype) = (&self.forward, self.forward.dtype);
        let lse = Operand::read("the largest scores and logarithms of the sums", DType::F32, self.lse);
        let operands = [
            Operand::read("the queries", dtype, forward.q),
            Operand::read("the keys", dtype, forward.k),
            Operand::read("the values", dtype, forward.v),
            Operand::read("the result", dtype, self.y),
            lse.in_form(Form::Dense),
            Operand::read("the gradient of the result", dtype, self.g),
        ];
        operands.into_iter().chain(forward.mask_operands()).collect()
    }

    /// The gradients.
    pub(super) fn result_operands(&self) -> Result<Vec<Operand>> {
        let (forward, dtype) = (&self.forward, self.forward.dtype);
        if let Some(bias) = self.bias_gradient() {
            let own = [0, 1].map(|axis| axis_of_bias(&bias, axis));
            let form = if self.adds_up(own) { Form::Sum } else { Form::Dense };
            let bias = Operand::written("the gradient of the bias", self.bias_dtype(), bias);
            return Ok(vec![bias.in_form(form).along(own)]);
        }
        let [batch, heads] = [0, 1].map(|axis| forward.k.shape()[axis]);
        let each =
            Layout::contiguous(OP, &[batch, heads, (self.dk.len() + self.dv.len()) / (batch * heads)])?;
        let of_keys = Operand::written("the gradients of the keys and values", dtype, each);
        Ok(vec![Operand::written("the gradient of the queries", dtype, self.dq), of_keys.in_form(Form::Own)])
    }

    /// Whether the gradients of windows are added up for a bias with these axes. Not for f16 and bf16, because their sums would
    /// be rounded in each window.
    pub(super) fn adds_up(&self, own: [Option<usize>; 2]) -> bool {
        own == [None; 2] && self.bias_dtype() == DType::F32
    }
}

/// The axis of a bias along the batches (0) or heads (1), if it has more than one index there.
pub(super) fn axis_of_bias(bias: &Layout, axis: usize) -> Option<usize> {
    let own = axis.checked_sub(4 - bias.rank())?;
    (bias.shape()[own] > 1).then_some(own)
}
