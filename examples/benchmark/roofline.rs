//! The roofline model: what the device's peaks allow for a row.

use crate::record::{Row, Run};
use serde::Serialize;
use std::fmt;
use support::significant;

/// A peak of the device: what limits a row that reaches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Peak {
    /// Bytes, by a copy.
    Copy,
    /// Multiply-adds outside cooperative matrices.
    F32,
    F16,
    /// Multiply-adds of packed i8, in words of four, and operations on integers.
    I8,
    /// Multiply-adds on cooperative matrices.
    Matrices,
}

impl Peak {
    /// The arithmetic ones.
    pub(crate) const ARITHMETIC: [Self; 4] = [Self::F32, Self::F16, Self::I8, Self::Matrices];

    /// What the peak was measured with: `fma of f32`.
    pub(crate) fn measured_by(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::F32 => "fma of f32",
            Self::F16 => "fma of f16",
            Self::I8 => "packed i8",
            Self::Matrices => "matrices",
        }
    }

    /// Its unit, in thousand millions.
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Self::Copy => "GB/s",
            Self::I8 => "GOP/s",
            _ => "GFLOP/s",
        }
    }
}

/// `f32`, as in `45% of f32`.
impl fmt::Display for Peak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Copy => "copy",
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::I8 => "i8",
            Self::Matrices => "matrices",
        })
    }
}

impl Run {
    /// The peaks: `copy 7.48 GB/s, fma of f32 139 GFLOP/s, packed i8 106 GOP/s`.
    pub(crate) fn peak_rates(&self) -> String {
        let all = [Peak::Copy].into_iter().chain(Peak::ARITHMETIC);
        let texts = all.filter_map(|peak| {
            let rate = significant(self.measured(peak)? * 1e-9);
            Some(format!("{} {rate} {}", peak.measured_by(), peak.unit()))
        });
        texts.collect::<Vec<_>>().join(", ")
    }

    /// Operations or bytes per second, if the device has the unit.
    fn measured(&self, peak: Peak) -> Option<f64> {
        match peak {
            Peak::Copy => Some(self.peaks.copy),
            Peak::F32 => Some(self.peaks.f32),
            Peak::F16 => self.peaks.f16,
            Peak::I8 => self.peaks.i8,
            Peak::Matrices => self.peaks.matrices,
        }
    }

    /// The arithmetic peaks that the rows use, and that of f32.
    pub(crate) fn used_peaks(&self) -> Vec<(Peak, f64)> {
        let is_used = |peak| peak == Peak::F32 || self.rows.iter().any(|row| row.flops.on(peak) > 0.0);
        let used = Peak::ARITHMETIC.into_iter().filter(|&peak| is_used(peak));
        used.filter_map(|peak| Some((peak, self.measured(peak)?))).collect()
    }

    /// Seconds that a row takes at least: its arithmetic at the peaks of the units that compute it, one after the other, or its
    /// bytes at that of a copy.
    fn least_seconds(&self, row: &Row) -> f64 {
        self.arithmetic(row).max(self.memory(row))
    }

    /// The peak that limits a row: that of a copy, or of the unit that most of its arithmetic takes.
    pub(crate) fn limit(&self, row: &Row) -> Peak {
        if self.arithmetic(row) <= self.memory(row) {
            return Peak::Copy;
        }
        let longer = |a: Peak, b: Peak| if self.seconds_on(row, b) > self.seconds_on(row, a) { b } else { a };
        Peak::ARITHMETIC.into_iter().fold(Peak::F32, longer)
    }

    /// What a row reaches of what the peaks allow.
    pub(crate) fn share(&self, row: &Row) -> f64 {
        self.least_seconds(row) / row.spread().median
    }

    fn arithmetic(&self, row: &Row) -> f64 {
        Peak::ARITHMETIC.into_iter().map(|peak| self.seconds_on(row, peak)).sum()
    }

    /// Seconds of a row's arithmetic on one unit. A unit that was not measured counts as that of f32.
    fn seconds_on(&self, row: &Row, peak: Peak) -> f64 {
        row.flops.on(peak) / self.measured(peak).unwrap_or(self.peaks.f32)
    }

    fn memory(&self, row: &Row) -> f64 {
        row.bytes as f64 / self.peaks.copy
    }
}
