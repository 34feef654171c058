//! [`ComputeUnit`]: the unit of a GPU that a kernel multiplies with, and the compiled inner loop of a tile on it.

use super::inner_loops::InnerLoop;
use crate::caps::Caps;
use crate::gemm::problem::{GemmProblem, Tile};
use crate::layout::DType;

/// The unit that multiplies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::gemm) enum ComputeUnit {
    Matrix,
    F32,
    F16,
    Integer,
    IntegerMatrix,
}

impl ComputeUnit {
    /// Whether it is a unit of cooperative matrices.
    pub(in crate::gemm) fn is_matrix(self) -> bool {
        matches!(self, Self::Matrix | Self::IntegerMatrix)
    }
}

impl InnerLoop {
    /// The inner loop of a tile on this device, with the types of the problem and sums of the unit's type. None if no table has
    /// it.
    pub(super) fn of(tile: &Tile, problem: &GemmProblem, unit: ComputeUnit, caps: &Caps) -> Option<Self> {
        let Tile { kernel, bm, bn, bk, tm, tn, fragment } = *tile;
        let sums = match unit {
            ComputeUnit::Matrix | ComputeUnit::F32 => DType::F32,
            ComputeUnit::F16 => DType::F16,
            ComputeUnit::Integer | ComputeUnit::IntegerMatrix => DType::I32,
        };
        // No table has types of 8 bits with a fraction. Outside matrices they are widened to f32 while they are loaded, as bf16 is.
        let ab = if problem.types.ab.is_fp8() { DType::Bf16 } else { problem.types.ab };
        Self::on(caps, kernel, [bm, bn, bk, tm, tn, fragment], [ab, problem.types.c, sums])
    }

    /// Seconds that a core waits at a barrier: none if another workgroup fits on the core and computes in the meantime.
    pub(super) fn barrier_seconds(&self, caps: &Caps) -> f64 {
        if self.workgroups > 1 { 0.0 } else { caps.machine.barrier_seconds }
    }
}
