//! The plan of a loss of elements: one step for each window, and a sum of partial results in a fixed order.

use super::problem::{LossDims, LossMoves, LossProblem, WeightSource};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::{self, Needs};
use crate::layout::{DType, Layout, dim};
use crate::ops::loss::reduction::{LossGradient, Reduction};
use crate::ops::loss::total::{LANES, Summands, TotalDims, total_step};
use crate::ops::subgroups::shared_bytes;
use crate::ops::vectors::per_vector;
use crate::ops::windows::JOINS;
use crate::plan::{
    Access, CutAxes, CutOperand, Dims, Draft, Flops, Form, InWindows, NewStep, Plan, Problem, Region,
    ScalarParameter, Time, plan_in_windows,
};
use std::mem::offset_of;
use std::ops::Range;

/// Most partial sums.
const MAX_BLOCKS: u32 = 1024;
/// Units of an invocation up to which one workgroup adds all losses.
const UNITS_OF_ONE_BLOCK: u32 = 4;

/// The scalars of a call, in this order.
const SCALARS: [ScalarParameter; 2] = [ScalarParameter::f32("g"), ScalarParameter::f32("delta")];

impl Problem for LossProblem {
    /// One step computes the losses or partial sums of them, and the gradient if the problem has one. Another step adds
    /// several partial sums.
    ///
    /// Operands: the loss, the gradient if there is one, A, B, the weights and the gradient with respect to the losses if
    /// there are any. Scalars: the gradient with respect to the losses, and the delta of a Huber loss.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        plan_in_windows(self, caps, JOINS)
    }
}

impl InWindows for LossProblem {
    fn cut_axes(&self) -> Result<CutAxes> {
        let op = self.function.op();
        let [a, b] = [self.layout(0)?, self.layout(1)?];
        let (extents, dense) = (a.shape().to_vec(), Layout::contiguous(op, a.shape())?);
        let all: Vec<Option<usize>> = (0..extents.len()).map(Some).collect();
        let of = |form, layout, dtype| CutOperand::new(form, layout, dtype, all.clone());
        let mut operands = vec![if self.reduction == Reduction::None {
            of(Form::Dense, dense, DType::F32)
        } else {
            let sum = CutOperand::whole(Layout::contiguous(op, &[1])?, DType::F32, extents.len());
            CutOperand { form: Form::Sum, ..sum }
        }];
        if self.gradient == LossGradient::Computed {
            operands.push(of(Form::Dense, dense, self.dtype));
        }
        operands.extend([of(Form::View, a, self.dtype), of(Form::View, b, self.dtype)]);
        if self.has_weights == WeightSource::Tensor {
            operands.push(of(Form::View, self.layout(2)?, DType::F32));
        }
        operands.extend(self.upstream.map(|g| {
            if g.len() == 1 {
                return CutOperand::whole(g, DType::F32, extents.len());
            }
            of(Form::Dense, dense.at(dense.strides(), g.offset()), DType::F32)
        }));
        Ok(CutAxes { extents, joined: 0, operands, whole: None })
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        let operands = if self.gradient == LossGradient::Computed { &layouts[2..] } else { &layouts[1..] };
        let weights = operands.get(2).filter(|_| self.has_weights == WeightSource::Tensor);
        let part = Self::new(self.function, [&operands[0], &operands[1]], weights, self.dtype)?;
        let part = Self { count: self.count, reduction: self.reduction, ..part };
        if self.gradient == LossGradient::Skipped {
            return Ok(part);
        }
        Ok(part.with_gradient(self.upstream.and(operands.last())))
    }

    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let op = self.function.op();
        let mut draft = Draft::new(op, &SCALARS, caps);
        let is_reduced = self.reduction != Reduction::None;
        let of_loss = Layout::contiguous(op, &[if is_reduced { 1 } else { self.len() }])?;
        let loss = draft.operand("the loss", DType::F32, of_loss, Access::Write);
        let gradient = match self.gradient {
            LossGradient::Skipped => None,
            LossGradient::Computed => {
                let layout = Layout::contiguous(op, &[self.len()])?;
                Some(draft.operand("the gradient", self.dtype, layout, Access::Write))
            }
        };
        let a = draft.operand("x", self.dtype, self.layout(0)?, Access::Read);
        let b = draft.operand("the target", self.dtype, self.layout(1)?, Access::Read);
        let one = draft.constant(&[1.0f32.to_bits()])?;
        let weights = match self.has_weights {
            WeightSource::Ones => one,
            WeightSource::Tensor => draft.operand("the weights", DType::F32, self.layout(2)?, Access::Read),
        };
        let upstream = self.upstream.map(|layout| draft.operand("g", DType::F32, layout, Access::Read));
        let dims = self.dims(caps)?;
        let losses = if is_reduced && dims.blocks > 1 {
            draft.temporary(&[dims.blocks as usize], DType::F32)?
        } else {
            loss
        };
        let operands = [a, b, weights, upstream.unwrap_or(one)].map(|region| (region, Access::Read));
        let results = [Some(losses), gradient].into_iter().flatten().map(|region| (region, Access::Write));
        let args: Vec<(Region, Access)> = operands.into_iter().chain(results).collect();
        let [of_loss, of_slope] = self.function.flops();
        let of_slope = if gradient.is_some() { of_slope } else { 0.0 };
        let lanes = kernel::workgroup_size(LANES, caps);
        draft.step(NewStep {
            kernel: self.kernel(caps),
            tile: format!("{lanes} invocations, {}", self.dtype),
            needs: Needs {
                bindings: dim(op, args.len())?,
                invocations: lanes,
                workgroup_bytes: shared_bytes(caps, LANES, 4),
            },
            blocks: u64::from(dims.blocks),
            dims: Dims::of(&dims).scalar(offset_of!(LossDims, g), 0).scalar(offset_of!(LossDims, delta), 1),
            args: &args,
            flops: Flops::of_f32(self.len() as f64 * (1.0 + of_loss + of_slope)),
            time: Time::Roofline,
        })?;
        if is_reduced && dims.blocks > 1 {
            let dims = TotalDims { count: dims.blocks, factor: self.factor(), ..TotalDims::default() };
            total_step(&mut draft, Summands::Losses, [losses, one], loss, dims, |dims| dims)?;
        }
        Ok(draft.finish())
    }
}

impl LossProblem {
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
        let units = self.axes[0][0].div_ceil(width);
        let rows: usize = self.extents().skip(1).product();
        let all_units = dim(op, units as usize * rows)?;
        let blocks = if all_units <= UNITS_OF_ONE_BLOCK * lanes {
            1
        } else {
            all_units.div_ceil(lanes).min(MAX_BLOCKS)
        };
        let [a, b, w] = self.offsets;
        let g_offset = self.upstream.map_or(Ok(0), |layout| dim(op, layout.offset()))?;
        Ok(LossDims {
            axes: self.axes,
            offsets: [a, b, w, g_offset],
            units,
            all_units,
            rank: dim(op, self.rank)?,
            blocks,
            lanes,
            g_stride: u32::from(self.upstream.is_some_and(|upstream| upstream.len() > 1)),
            factor: self.factor(),
            total_factor: if blocks == 1 { self.factor() } else { 1.0 },
            ..LossDims::default()
        })
    }
}
