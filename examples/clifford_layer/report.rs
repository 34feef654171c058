//! Report on a layer.

use crate::Direction;
use crate::check::Check;
use crate::layer::Layer;
use serde_json::{Value, json};
use std::fmt;
use support::significant;
use tilewise::clifford::layer::ProductKind;
use tilewise::{DType, Plan};

/// Times and counters of a layer.
pub(crate) struct Measured {
    pub(crate) launches: u64,
    /// Bytes that the launches bound for reading and for writing.
    pub(crate) bytes: u64,
    /// These bytes over those of one operand.
    pub(crate) passes: f64,
    pub(crate) seconds: f64,
    /// Seconds of a copy of as many bytes.
    pub(crate) copy_seconds: f64,
}

impl Measured {
    fn gbps(&self) -> f64 {
        self.bytes as f64 / self.seconds.max(f64::MIN_POSITIVE) * 1e-9
    }

    fn copy_gbps(&self) -> f64 {
        self.bytes as f64 / self.copy_seconds.max(f64::MIN_POSITIVE) * 1e-9
    }

    /// Share of a copy's bandwidth.
    fn share(&self) -> f64 {
        self.copy_seconds / self.seconds.max(f64::MIN_POSITIVE)
    }
}

/// The layer, its check and its times.
pub(crate) struct Report {
    pub(crate) device: String,
    pub(crate) layer: Layer,
    pub(crate) size: [usize; 2],
    pub(crate) dtype: DType,
    pub(crate) direction: Direction,
    pub(crate) check: Check,
    pub(crate) measured: Measured,
    pub(crate) plan: Plan,
}

impl Report {
    pub(crate) fn ok(&self) -> bool {
        self.check.bound_ratio <= 1.0
    }

    fn kind(&self) -> &'static str {
        match self.layer.kind {
            ProductKind::Steerable => "steerable",
            ProductKind::Connected => "connected",
        }
    }

    fn direction(&self) -> &'static str {
        if self.direction == Direction::Forward { "forward" } else { "backward" }
    }

    pub(crate) fn json(&self) -> Value {
        let [batch, features] = self.size;
        json!({
            "device": self.device,
            "signature": self.layer.product.signature.to_string(),
            "product": self.kind(),
            "direction": self.direction(),
            "norm": self.layer.product.norm.to_string(),
            "batch": batch,
            "features": features,
            "dtype": self.dtype.to_string(),
            "rows_checked": self.check.rows,
            "bound_ratio": self.check.bound_ratio,
            "passes": self.measured.passes,
            "launches": self.measured.launches,
            "seconds": self.measured.seconds,
            "gbps": self.measured.gbps(),
            "copy_gbps": self.measured.copy_gbps(),
            "share": self.measured.share(),
            "plan": self.plan.to_string(),
            "ok": self.ok(),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([batch, features], product) = (self.size, self.layer.product);
        let Measured { launches, passes, seconds, .. } = self.measured;
        writeln!(f, "device     {}", self.device)?;
        writeln!(
            f,
            "layer      {} product of {}, {}, norm {}, {batch} rows of {features} features, {}",
            self.kind(),
            product.signature,
            self.direction(),
            product.norm,
            self.dtype
        )?;
        writeln!(f, "plan       {}", self.plan.to_string().replace("\n  ", "\n           "))?;
        writeln!(
            f,
            "passes     {} (bytes over those of an operand); launches {launches}",
            significant(passes)
        )?;
        let [own, copy] = [self.measured.gbps(), self.measured.copy_gbps()].map(significant);
        let [ms, share] = [seconds * 1e3, self.measured.share() * 100.0].map(significant);
        writeln!(f, "time       {ms} ms: {own} GB/s, {share} % of a copy's {copy} GB/s")?;
        let verdict = if self.ok() { "ok" } else { "WRONG" };
        let ratio = significant(self.check.bound_ratio);
        writeln!(
            f,
            "check      {verdict} (largest error {ratio} of its tolerance, {} rows, against f64)",
            self.check.rows
        )
    }
}
