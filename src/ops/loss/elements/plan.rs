//! The plan of a loss of elements: one step for each window, and a sum of partial results in a fixed order.

use super::problem::{LossDims, LossMoves, LossProblem};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::{self, Needs};
use crate::layout::{DType, Layout, MAX_RANK, dim, known};
use crate::ops::loss::reduction::{LossGradient, Reduction};
use crate::ops::loss::total::{LANES, Summands, TotalDims, total_step};
use crate::ops::subgroups::shared_bytes;
use crate::ops::vectors::per_vector;
use crate::ops::windows::JOINS;
use crate::plan::{
    Access, CutAxes, Dims, Draft, Flops, Form, InWindows, Joins, NewStep, Operand, Plan, Region,
    ScalarParameter,
};
use std::mem::offset_of;
use std::ops::Range;

/// Most partial sums.
const MAX_BLOCKS: u32 = 1024;
/// Units of an invocation up to which one workgroup adds all losses.
const UNITS_OF_ONE_BLOCK: u32 = 4;

/// The scalars of a call, in this order.
const SCALARS: [ScalarParameter; 2] = [ScalarParameter::f32("g"), ScalarParameter::f32("delta")];

impl InWindows for LossProblem {
    const JOINS: Joins = JOINS;

    fn cut_axes(&self) -> Result<CutAxes> {
        Ok(CutAxes::of(self.a.shape(), self.operands().into_iter().flatten()))
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        let operands = if self.gradient == LossGradient::Computed { &layouts[2..] } else { &layouts[1..] };
        let weights = operands.get(2).filter(|_| self.weights.is_some());
        let part = Self::new(self.function, [&operands[0], &operands[1]], weights, self.dtype)?;
        let part = Self { count: self.count, reduction: self.reduction, ..part };
        if self.gradient == LossGradient::Skipped {
            return Ok(part);
        }
        Ok(part.with_gradient(self.upstream.and(operands.last())))
    }

    /// One step computes the losses or partial sums of them, and the gradient if the problem has one. Another step adds
    /// several partial sums.
    ///
    /// Operands: the loss, the gradient if there is one, A, B, the weights and the gradient with respect to the losses if
    /// there are any. Scalars: the gradient with respect to the losses, and the delta of a Huber loss.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let op = self.function.op();
        let mut draft = Draft::new(op, &SCALARS, caps);
        let is_reduced = self.reduction != Reduction::None;
        let [loss, gradient, a, b, weights, upstream] = draft.regions(self.operands());
        let one = draft.constant(&[1.0f32.to_bits()])?;
        let dims = self.dims(caps)?;
        let is_cut = is_reduced && dims.blocks > 1;
        let losses = if is_cut { Some(draft.temporary(&[dims.blocks as usize], DType::F32)?) } else { loss };
        let read = [a, b, weights.or(Some(one)), upstream.or(Some(one))].map(|of| (of, Access::Read));
        let args = read.into_iter().chain([losses, gradient].map(|of| (of, Access::Write)));
        let args: Vec<(Region, Access)> = args.filter_map(|(of, access)| of.map(|of| (of, access))).collect();
        let [of_loss, of_slope] = self.function.flops();
        let of_slope = if gradient.is_some() { of_slope } else { 0.0 };
        let lanes = kernel::workgroup_size(LANES, caps);
        draft.step(NewStep {
            tile: format!("{lanes} invocations, {}", self.dtype),
            blocks: u64::from(dims.blocks),
            dims: Dims::of(&dims).scalar(offset_of!(LossDims, g), 0).scalar(offset_of!(LossDims, delta), 1),
            flops: Flops::of_f32(self.a.len() as f64 * (1.0 + of_loss + of_slope)),
            ..NewStep::of(self.kernel(caps), Needs::of(lanes, shared_bytes(caps, LANES, 4)), &args)
        })?;
        if let (true, Some(losses), Some(loss)) = (is_cut, losses, loss) {
            let dims = TotalDims { count: dims.blocks, factor: self.factor(), ..TotalDims::default() };
            total_step(&mut draft, Summands::Losses, [losses, one], loss, dims, |dims| dims)?;
        }
        Ok(draft.finish())
    }
}

impl LossProblem {
    /// The loss, the gradient, A, B, the weights, and the gradient with respect to the losses.
    fn operands(&self) -> [Option<Operand>; 6] {
        let dense = self.a.dense();
        let loss = match self.reduction {
            Reduction::None => Operand::written("the loss", DType::F32, dense),
            _ => Operand::written("the loss", DType::F32, Layout::line(1)).in_form(Form::Sum).whole(),
        };
        let gradient = Operand::written("the gradient", self.dtype, dense);
        let upstream = |g: Layout| match g.len() {
            1 => Operand::read("g", DType::F32, g).whole(),
            _ => Operand::read("g", DType::F32, dense.at(dense.strides(), g.offset())).in_form(Form::Dense),
        };
        [
            Some(loss),
            (self.gradient == LossGradient::Computed).then_some(gradient),
            Some(Operand::read("x", self.dtype, self.a)),
            Some(Operand::read("the target", self.dtype, self.b)),
            self.weights.map(|weights| Operand::read("the weights", DType::F32, weights)),
            self.upstream.map(upstream),
        ]
    }

    /// The factor of each loss in the result.
    #[expect(clippy::cast_possible_truncation, reason = "rounded once")]
    fn factor(&self) -> f32 {
        match self.reduction {
            Reduction::Mean => (1.0 / self.count as f64) as f32,
            Reduction::Sum | Reduction::None => 1.0,
        }
    }

    /// The uniform, with zeros in place of the call's scalars.
    fn dims(&self, caps: &Caps) -> Result<LossDims> {
        let op = self.function.op();
        let lanes = kernel::workgroup_size(LANES, caps);
        let width = if self.moves() == LossMoves::Elements { 4 } else { per_vector(self.dtype) };
        let units = known(self.row()).div_ceil(width);
        let rows = self.a.len() / self.row();
        let all_units = dim(op, units as usize * rows)?;
        let blocks = if all_units <= UNITS_OF_ONE_BLOCK * lanes {
            1
        } else {
            all_units.div_ceil(lanes).min(MAX_BLOCKS)
        };
        let [a, b, w] = self.offsets();
        let g_offset = self.upstream.map_or(Ok(0), |layout| dim(op, layout.offset()))?;
        let mut axes = [[1, 0, 0, 0]; MAX_RANK];
        let rank = self.axes().put_known(&mut axes);
        Ok(LossDims {
            axes,
            offsets: [a, b, w, g_offset],
            units,
            all_units,
            rank,
            blocks,
            lanes,
            g_stride: u32::from(self.upstream.is_some_and(|upstream| upstream.len() > 1)),
            factor: self.factor(),
            total_factor: if blocks == 1 { self.factor() } else { 1.0 },
            ..LossDims::default()
        })
    }
}
