//! The share of a GPU's peak that a tile reaches, from its compiled inner loop if there is a table for the device.
//!
//! Software devices and devices without a table keep the formula that counts reads, [`Cost::efficiency`].

use super::cost::{Cost, Unit};
use super::inner_loops::InnerLoop;
use crate::caps::Caps;
use crate::gemm::problem::{GemmProblem, Tile};
use crate::layout::DType;

impl InnerLoop {
    /// The inner loop of a tile on this device, with the types of the problem and sums of the unit's type. None if no table has
    /// it.
    pub(super) fn of(tile: &Tile, problem: &GemmProblem, unit: Unit, caps: &Caps) -> Option<Self> {
        let Tile { kernel, bm, bn, bk, tm, tn, fragment } = *tile;
        let sums = match unit {
            Unit::Matrix | Unit::F32 => DType::F32,
            Unit::F16 => DType::F16,
            Unit::Integer | Unit::IntegerMatrix => DType::I32,
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

impl Cost {
    /// The fraction of the peak that the inner loop reaches: from the compiled loop, else from the formula that counts
    /// reads.
    pub(in crate::gemm) fn share_of_peak(&self, caps: &Caps) -> f64 {
        match &self.inner_loop {
            Some(inner) => inner.share_of_peak(self.peak, &caps.machine),
            None => self.efficiency(),
        }
    }

    /// The number of workgroups, of `queued`, that a core runs at a time.
    pub(super) fn resident(&self, queued: f64) -> f64 {
        self.inner_loop.map_or(queued, |inner| queued.min(inner.workgroups_per_core()))
    }
}
