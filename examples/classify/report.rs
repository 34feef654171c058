//! The table: what the network costs in each type, and whether it is right.

use crate::network::CONVOLUTIONS;
use crate::pictures::{COLOURS, EDGE};
use crate::rows::{Ran, Row};
use serde_json::{Value, json};
use std::fmt;
use support::significant;
use tilewise::{DType, Gpu};

/// The least share of the pictures that must be recognised.
const LEAST_ACCURACY: f64 = 0.9;

/// The results of all rows.
pub(crate) struct Report {
    pub(crate) gpu: Gpu,
    pub(crate) pictures: usize,
    pub(crate) batch: usize,
    pub(crate) rows: Vec<Row>,
}

/// The largest error of an output that is allowed. Weights in bf16 are rounded once more than the stored ones.
fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::F32 => 2e-5,
        DType::F16 => 0.01,
        _ => 0.2,
    }
}

impl Row {
    fn ok(&self, pictures: usize) -> bool {
        self.outcome.as_ref().is_ok_and(|ran| {
            ran.bound_ratio <= 1.0
                && ran.largest_error <= tolerance(self.dtype)
                && ran.accuracy(pictures) >= LEAST_ACCURACY
        })
    }

    fn json(&self, batch: usize, pictures: usize) -> Value {
        let ran = match &self.outcome {
            Ok(ran) => ran,
            Err(needs) => return json!({ "row": self.name, "dtype": self.dtype.to_string(), "needs": needs }),
        };
        json!({
            "row": self.name,
            "dtype": self.dtype.to_string(),
            "frames_per_second": ran.frames_per_second(batch),
            "milliseconds": ran.milliseconds(batch),
            "megabytes": ran.megabytes(),
            "on_matrix_units": ran.on_matrix_units,
            "launches": ran.launches,
            "largest_error": ran.largest_error,
            "bound_ratio": ran.bound_ratio,
            "right": ran.right,
            "accuracy": ran.accuracy(pictures),
            "ok": self.ok(pictures),
        })
    }
}

impl Ran {
    fn frames_per_second(&self, batch: usize) -> f64 {
        batch as f64 / self.seconds
    }

    /// Of a picture.
    fn milliseconds(&self, batch: usize) -> f64 {
        1e3 * self.seconds / batch as f64
    }

    fn megabytes(&self) -> f64 {
        self.bytes as f64 * 1e-6
    }

    fn accuracy(&self, pictures: usize) -> f64 {
        self.right as f64 / pictures as f64
    }
}

impl Report {
    fn ran(&self) -> impl Iterator<Item = &Ran> {
        self.rows.iter().filter_map(|row| row.outcome.as_ref().ok())
    }

    /// Whether a row ran, and all that did are right.
    pub(crate) fn ok(&self) -> bool {
        self.ran().next().is_some()
            && self.rows.iter().all(|row| row.outcome.is_err() || row.ok(self.pictures))
    }

    /// What the first row that ran took each picture for.
    pub(crate) fn found(&self) -> &[usize] {
        self.ran().next().map_or(&[], |ran| &ran.found)
    }

    pub(crate) fn json(&self) -> Value {
        let caps = self.gpu.caps();
        json!({
            "device": caps.adapter,
            "backend": caps.backend,
            "driver": caps.driver,
            "pictures": self.pictures,
            "batch": self.batch,
            "convolutions": CONVOLUTIONS,
            "parameters": self.ran().next().map(|ran| ran.parameters),
            "flops": self.ran().next().map(|ran| ran.flops),
            "least_accuracy": LEAST_ACCURACY,
            "rows": self.rows.iter().map(|row| row.json(self.batch, self.pictures)).collect::<Vec<_>>(),
            "ok": self.ok(),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (caps, Self { pictures, batch, .. }) = (self.gpu.caps(), self);
        writeln!(f, "device     {}, {}, {}", caps.adapter, caps.backend, caps.driver)?;
        if let Some(Ran { parameters, flops, launches, .. }) = self.ran().next() {
            writeln!(
                f,
                "network    {CONVOLUTIONS} convolutions, {parameters} parameters, {} MFLOP a frame, {launches} launches a batch",
                significant(flops * 1e-6)
            )?;
        }
        writeln!(
            f,
            "frames     {pictures} held-out digits, {EDGE} x {EDGE} x {COLOURS}, in batches of {batch}\n"
        )?;
        let [name, rate, ms, mb, share, error, bound, right] =
            ["", "frames/s", "ms", "MB", "on matrix units", "largest error", "of the bound", "right"];
        writeln!(f, "{name:<22}{rate:>9}{ms:>8}{mb:>8}{share:>17}{error:>15}{bound:>14}{right:>8}")?;
        for row in &self.rows {
            write!(f, "{:<22}", row.name)?;
            let ran = match &row.outcome {
                Ok(ran) => ran,
                Err(needs) => {
                    writeln!(f, " not on this device: needs {needs}")?;
                    continue;
                }
            };
            let [rate, ms, mb] = [ran.frames_per_second(*batch), ran.milliseconds(*batch), ran.megabytes()];
            let [rate, ms, mb, bound] = [rate, ms, mb, ran.bound_ratio].map(significant);
            let [share, right] = [ran.on_matrix_units, ran.accuracy(*pictures)].map(|of| 100.0 * of);
            let error = format!("{:.1e}", ran.largest_error);
            writeln!(f, "{rate:>9}{ms:>8}{mb:>8}{share:>15.0} %{error:>15}{bound:>14}{right:>6.1} %")?;
        }
        let verdict = if self.ok() { "ok" } else { "FAILED" };
        writeln!(
            f,
            "\ncheck      {verdict} (outputs against PyTorch in f64, every step within its bound of f64, at least {} % right)",
            100.0 * LEAST_ACCURACY
        )
    }
}
