//! The device's peaks, measured as the benches do.

use crate::record::Peaks;
use bench::peak;
use tilewise::gpu::Tuning;
use tilewise::{Gpu, GpuOptions, Result};

/// Measures the peaks of a device on a `Gpu` of its own, which remembers nothing: what it measures is not what later runs
/// predict with.
pub(crate) struct Meter(Gpu);

impl Meter {
    /// Of the device that the environment variables name.
    pub(crate) fn open() -> Result<Self> {
        Ok(Self(Gpu::open_with(GpuOptions { tuning: Tuning::Off, ..GpuOptions::from_env()? })?))
    }

    pub(crate) fn measure(&self) -> Result<Peaks> {
        let found = peak::measure(&self.0)?;
        Ok(Peaks {
            copy: found.bytes,
            f32: found.flops,
            f16: found.f16_flops,
            i8: found.i8_flops.unwrap_or_default(),
            matrices: found.matrix_flops,
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
