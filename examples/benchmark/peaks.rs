//! The device's peaks, measured as the benches do.

use crate::peak;
use crate::record::Peaks;
use tilewise::{Gpu, Result};

/// Measures the peaks.
pub(crate) fn measure(gpu: &Gpu) -> Result<Peaks> {
    let found = peak::measure(gpu)?;
    Ok(Peaks { fma: found.flops, copy: found.bytes, matrices: found.matrix_flops })
}

impl Peaks {
    /// The higher of two measurements: other work on the machine can only lower one.
    pub(crate) fn or_higher(&self, other: &Self) -> Self {
        let matrices = [self.matrices, other.matrices].into_iter().flatten().reduce(f64::max);
        Self { fma: self.fma.max(other.fma), copy: self.copy.max(other.copy), matrices }
    }
}
