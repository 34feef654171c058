//! The times of the parts of a factorisation.

use crate::Result;
use std::fmt;
use std::time::{Duration, Instant};

/// The times of the parts of a factorisation. Time on the device is measured until its result has been read, and
/// includes the copies in both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Random combinations, with which the search of each block begins, on the CPU.
    pub sketches: Duration,
    /// Products, on the device; norms of residuals and the last check of U are part of them.
    pub products: Duration,
    /// Small factorisations, on the CPU.
    pub small: Duration,
    /// Checks for NaN and infinity, and scaling, on the device.
    pub checks: Duration,
}

/// A part of a factorisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimedPart {
    Sketches,
    Products,
    Small,
    Checks,
}

impl Timings {
    /// The sum of all parts.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.sketches + self.products + self.small + self.checks
    }

    /// Runs `work` and adds its time to a part.
    pub(super) fn measure<T>(&mut self, part: TimedPart, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let start = Instant::now();
        let result = work();
        *match part {
            TimedPart::Sketches => &mut self.sketches,
            TimedPart::Products => &mut self.products,
            TimedPart::Small => &mut self.small,
            TimedPart::Checks => &mut self.checks,
        } += start.elapsed();
        result
    }
}

impl fmt::Display for Timings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [sketches, products, small, checks] =
            [self.sketches, self.products, self.small, self.checks].map(|part| part.as_secs_f64() * 1e3);
        write!(
            f,
            "sketches {sketches:.1} ms, products {products:.1} ms, small factorisations {small:.1} ms, checks {checks:.1} ms"
        )
    }
}
