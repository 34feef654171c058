//! The device's peaks, measured.

use crate::peak::{self, Copier};
use crate::record::Peaks;
use tilewise::gpu::Tuning;
use tilewise::{Gpu, GpuOptions, Result};

/// Measures the peaks of a device on a `Gpu` of its own, which remembers nothing: what it measures is not what later runs
/// predict with.
pub(crate) struct Meter {
    gpu: Gpu,
    copier: Copier,
    /// Bytes that the copier reads.
    bytes: u64,
}

/// Bytes that are copied at most.
const COPIED: u64 = 1 << 28;
/// Copies, of which the fastest counts.
const ROUNDS: usize = 5;

impl Meter {
    /// Of the device that the environment variables name.
    pub(crate) fn open() -> Result<Self> {
        let gpu = Gpu::open_with(GpuOptions { tuning: Tuning::Off, ..GpuOptions::from_env()? })?;
        let limits = &gpu.caps().limits;
        let room = gpu.caps().memory.unwrap_or(1 << 30) / 8;
        let bytes = limits.binding_bytes.min(limits.buffer_bytes).min(room).min(COPIED) / 4096 * 4096;
        Ok(Self { copier: Copier::new(&gpu, bytes), gpu, bytes })
    }

    pub(crate) fn measure(&self) -> Result<Peaks> {
        let machine = self.gpu.measure_machine()?;
        // The faster of two copies: the library's, and one of vectors of 16 bytes.
        let seconds = (0..ROUNDS).map(|_| self.copier.seconds(&self.gpu)).fold(f64::INFINITY, f64::min);
        Ok(Peaks {
            copy: machine.memory_bandwidth.max(2.0 * self.bytes as f64 / seconds),
            f32: machine.f32_flops,
            f16: self.gpu.caps().f16.then_some(machine.f16_flops),
            i8: machine.i8_flops,
            matrices: peak::matrices::measure(&self.gpu),
        })
    }
}

impl Peaks {
    /// The higher of two measurements: other work on the machine can only lower one.
    pub(crate) fn or_higher(&self, other: &Self) -> Self {
        let higher =
            |of: fn(&Self) -> Option<f64>| [of(self), of(other)].into_iter().flatten().reduce(f64::max);
        Self {
            copy: self.copy.max(other.copy),
            f32: self.f32.max(other.f32),
            f16: higher(|peaks| peaks.f16),
            i8: self.i8.max(other.i8),
            matrices: higher(|peaks| peaks.matrices),
        }
    }
}
