//! The share of the peak that an inner loop can reach, from the units that it occupies and for how long.

use super::line::InnerLoop;
use crate::caps::Machine;

/// Bytes of shared memory, or of the first cache, that a core accesses in a cycle: 32 banks of 4 bytes. Published for NVIDIA's
/// multiprocessors (programming guide) and AMD's compute units (ISA guides of RDNA), assumed for Intel's Xe cores.
const BYTES_PER_CYCLE: f64 = 128.0;

/// How a vendor's core issues instructions.
struct Issue {
    /// Multiply-adds of f32 in a slot at the peak rate.
    lanes: f64,
    /// Schedulers of a core, which share its shared memory.
    schedulers: f64,
    /// Whether matrix instructions have a separate unit, so that other instructions are issued at the same time.
    matrices: MatrixUnit,
    /// Cores whose invocations share registers and shared memory.
    cores: f64,
}

/// The unit of matrix instructions.
#[derive(PartialEq, Eq)]
enum MatrixUnit {
    Own,
    /// That of vectors.
    Vector,
}

/// By target. AMD's SIMD has 32 lanes, twice in a slot of a subgroup of 64, or as a dual instruction; two SIMDs are a core, and
/// two cores a workgroup processor. NVIDIA: four schedulers of 32 lanes. Intel (Xe2): eight engines of 16.
fn issue(target: &str) -> Issue {
    match target {
        "navi31" | "gfx1201" => {
            Issue { lanes: 64.0, schedulers: 2.0, matrices: MatrixUnit::Vector, cores: 2.0 }
        }
        "bmg" => Issue { lanes: 16.0, schedulers: 8.0, matrices: MatrixUnit::Own, cores: 1.0 },
        _ => Issue { lanes: 32.0, schedulers: 4.0, matrices: MatrixUnit::Own, cores: 1.0 },
    }
}

impl InnerLoop {
    /// The share of the peak rate of its unit (`peak`, in flop/s) that the loop can reach. A scheduler's subgroups hide each
    /// other's waits, so only the occupied time counts: the multiply-adds at the peak rate, the other instructions of the
    /// same unit, and the accesses. The result is the longest of these times plus a tenth of the others, because overlap is
    /// never perfect.
    #[must_use]
    pub(in crate::gemm::kernels) fn share_of_peak(&self, peak: f64, machine: &Machine) -> f64 {
        let Issue { lanes, schedulers, matrices, .. } = issue(self.target);
        let subgroup = f64::from(self.subgroup);
        let least = f64::from(self.multiply_adds) * subgroup / lanes * (machine.f32_flops / peak);
        let arithmetic = least.max(self.arithmetic_slots.into());
        let accesses = f64::from(self.accessed_bytes) * subgroup * schedulers / BYTES_PER_CYCLE;
        let is_apart = self.arithmetic_slots == 0 && matrices == MatrixUnit::Own;
        let terms = if is_apart {
            [arithmetic, self.other_slots.into(), accesses]
        } else {
            [arithmetic + f64::from(self.other_slots), 0.0, accesses]
        };
        let longest = terms.into_iter().fold(0.0, f64::max);
        least / (longest + (terms.iter().sum::<f64>() - longest) / 10.0)
    }

    /// The same loop with two more instructions for each sum of `k` multiply-adds: one converts it, one adds it.
    pub(in crate::gemm::kernels) fn with_short_sums(self, k: u32) -> Self {
        Self { other_slots: self.other_slots + 2 * self.multiply_adds / k, ..self }
    }

    /// The number of workgroups that fit on a core. It may be less than one if several cores share one workgroup.
    #[must_use]
    pub(in crate::gemm::kernels) fn workgroups_per_core(&self) -> f64 {
        f64::from(self.workgroups) / issue(self.target).cores
    }
}
