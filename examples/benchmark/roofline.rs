//! The roofline model: what the device's peaks allow for a row.

use crate::record::{Peaks, Row};
use crate::support::significant;
use std::fmt;

/// What limits a row at the device's peaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    Arithmetic,
    Memory,
}

/// `87.6 GFLOP/s by fma of f32, 8.02 GB/s by a copy`.
impl fmt::Display for Peaks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [fma, copy] = [self.fma, self.copy].map(|peak| significant(peak * 1e-9));
        write!(f, "{fma} GFLOP/s by fma of f32, {copy} GB/s by a copy")?;
        match self.matrices {
            Some(peak) => write!(f, ", {} GFLOP/s on cooperative matrices", significant(peak * 1e-9)),
            None => Ok(()),
        }
    }
}

impl Peaks {
    /// The peak of multiply-adds on cooperative matrices, or that of fma where nothing measured it.
    pub(crate) fn matrices(&self) -> f64 {
        self.matrices.unwrap_or(self.fma)
    }

    /// Seconds that a row takes at least: its arithmetic at its peaks, or its bytes at theirs.
    pub(crate) fn least_seconds(&self, row: &Row) -> f64 {
        self.arithmetic(row).max(self.memory(row))
    }

    pub(crate) fn limit(&self, row: &Row) -> Limit {
        if self.arithmetic(row) > self.memory(row) { Limit::Arithmetic } else { Limit::Memory }
    }

    /// What a row reaches of what the peaks allow.
    pub(crate) fn share(&self, row: &Row) -> f64 {
        self.least_seconds(row) / row.spread().median
    }

    fn arithmetic(&self, row: &Row) -> f64 {
        row.matrix_flops / self.matrices() + row.other_flops / self.fma
    }

    fn memory(&self, row: &Row) -> f64 {
        row.bytes as f64 / self.copy
    }
}
