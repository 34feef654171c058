//! The plan of an operation on images: one step, or one for each window of images and channels.

use super::kernel::LANES;
use super::problem::{PlaneFunction, PlaneProblem};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::Needs;
use crate::layout::{DType, Layout};
use crate::ops::windows::JOINS;
use crate::plan::{CutAxes, Dims, Draft, Flops, InWindows, Joins, NewStep, Operand, Plan};
use std::ops::Range;

impl InWindows for PlaneProblem {
    const JOINS: Joins = JOINS;

    /// The batch and the channels.
    fn cut_axes(&self) -> Result<CutAxes> {
        let shape = self.a.shape();
        let operands = self.operands().into_iter().map(|of| of.along([Some(0), Some(3)]));
        Ok(CutAxes { whole: Some(1), ..CutAxes::of(&[shape[0], shape[3]], operands) })
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        let indices = layouts.get(2).filter(|_| self.indices.is_some());
        Self::new(self.op, self.function, self.axes, (&layouts[0], self.dtype), indices)
    }

    /// One step, or one for each window. The kernel depends on the function, the type, and whether four channels are a vector.
    ///
    /// Operands: A, the result, and the indices, if they are written or read.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(self.op, &[], caps);
        let args = draft.operands(&self.operands());
        let d = self.dims();
        draft.step(NewStep {
            tile: format!("{LANES} invocations, four channels each, {}", self.dtype),
            blocks: u64::from(d.units.div_ceil(LANES)),
            dims: Dims::of(&d),
            flops: Flops::of_f32(self.flops()),
            ..NewStep::of(self.kernel(caps), Needs::of(LANES, 0), &args)
        })?;
        Ok(draft.finish())
    }
}

impl PlaneProblem {
    fn operands(&self) -> Vec<Operand> {
        let name = if self.function.is_backward() { "the gradient" } else { "x" };
        let mut operands =
            vec![Operand::read(name, self.dtype, self.a), Operand::written("the result", self.dtype, self.c)];
        if self.function == PlaneFunction::LargestAndIndices {
            operands.push(Operand::written("the indices", DType::I32, self.c));
        }
        operands.extend(self.indices.map(|of| Operand::read("the indices", DType::I32, of)));
        operands
    }

    /// An operation for each tap of a window, and a product for each weight.
    fn flops(&self) -> f64 {
        let pooled = if self.function.is_backward() { self.a } else { self.c };
        let taps: usize = self.axes.iter().map(|axis| axis.taps()).product();
        let of_tap = match self.function {
            PlaneFunction::Nearest => 0,
            PlaneFunction::Bilinear | PlaneFunction::MeanBackward(_) | PlaneFunction::BilinearBackward => 2,
            PlaneFunction::Largest
            | PlaneFunction::LargestAndIndices
            | PlaneFunction::LargestBackward
            | PlaneFunction::Mean(_)
            | PlaneFunction::NearestBackward => 1,
        };
        of_tap as f64 * taps as f64 * pooled.len() as f64
    }
}
