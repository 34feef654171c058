//! The plan of multiply-adds to time: one step.

use super::problem::{PeakDims, PeakNumber, PeakProblem};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::{self, Kernel, Needs};
use crate::layout::{DType, Layout};
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Plan, Problem};

/// The name of the function in errors.
pub(super) const OP: &str = "measure_machine";
/// Invocations of a workgroup, if the device allows them.
pub(super) const LANES: u32 = 64;

impl Problem for PeakProblem {
    /// One step.
    ///
    /// Operands: the sums, a word for each invocation.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(OP, &[], caps);
        let words = Layout::contiguous(OP, &[self.dims.words as usize])?;
        let c = draft.operand("the sums", DType::I32, words, Access::Write);
        let lanes = kernel::workgroup_size(LANES, caps);
        let (flops, none) = (self.operations(), Flops::default());
        draft.step(NewStep {
            tile: format!("{lanes} invocations, {:?}", self.number),
            blocks: u64::from(self.dims.words.div_ceil(lanes)),
            dims: Dims::of(&self.dims),
            flops: match self.number {
                PeakNumber::F32 => Flops { f32: flops, ..none },
                PeakNumber::F16 => Flops { f16: flops, ..none },
                PeakNumber::I8 => Flops { integer: flops, ..none },
            },
            ..NewStep::of(self.kernel(lanes, caps)?, Needs::of(lanes, 0), &[(c, Access::Write)])
        })?;
        Ok(draft.finish())
    }
}

impl PeakProblem {
    fn kernel(&self, lanes: u32, caps: &Caps) -> Result<Kernel> {
        let kernel = Kernel::new("peak/multiply_add").dims::<PeakDims>(caps).param("LANES", lanes);
        match self.number {
            PeakNumber::F32 => Ok(kernel),
            PeakNumber::F16 if caps.f16 => Ok(kernel.param("number", "f16")),
            PeakNumber::F16 => Err(caps.unsupported(OP, "f16 in shaders")),
            PeakNumber::I8 => Ok(kernel.slot("peak_chains", "i8")),
        }
    }
}
