//! Report on the motion.

use serde_json::{Value, json};
use std::fmt;
use support::significant;
use tilewise::Plan;

/// Bytes of a point, which is read once and written once.
const BYTES: f64 = 16.0;

/// Sizes, errors and times of the motion.
pub(crate) struct Report {
    pub(crate) device: String,
    pub(crate) cloud: String,
    pub(crate) points: usize,
    pub(crate) motors: usize,
    pub(crate) bound_ratio: f64,
    /// Seconds of one motor for all points.
    pub(crate) seconds: f64,
    /// Seconds of a copy of as many bytes.
    pub(crate) copy_seconds: f64,
    pub(crate) plan: Plan,
}

impl Report {
    pub(crate) fn ok(&self) -> bool {
        self.bound_ratio <= 1.0
    }

    fn gbps(&self, seconds: f64) -> f64 {
        // The copy is rounded up to whole kilobytes.
        2.0 * BYTES * self.points as f64 / seconds.max(f64::MIN_POSITIVE) * 1e-9
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "device": self.device,
            "cloud": self.cloud,
            "points": self.points,
            "motors": self.motors,
            "bound_ratio": self.bound_ratio,
            "seconds": self.seconds,
            "gbps": self.gbps(self.seconds),
            "copy_gbps": self.gbps(self.copy_seconds),
            "plan": self.plan.to_string(),
            "ok": self.ok(),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "device     {}", self.device)?;
        writeln!(f, "cloud      {}, {} points", self.cloud, self.points)?;
        writeln!(f, "path       {} motors, through five poses", self.motors)?;
        writeln!(f, "plan       {}", self.plan.to_string().lines().next().unwrap_or_default())?;
        let [own, copy] = [self.seconds, self.copy_seconds].map(|seconds| significant(self.gbps(seconds)));
        let ms = significant(self.seconds * 1e3);
        writeln!(f, "time       {ms} ms for one motor and all points: {own} GB/s, a copy {copy} GB/s")?;
        let verdict = if self.ok() { "ok" } else { "FAILED" };
        let ratio = significant(self.bound_ratio);
        writeln!(
            f,
            "check      {verdict} (largest error of a point {ratio} of its bound, against nalgebra's isometries in f64)"
        )
    }
}
