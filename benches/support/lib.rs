//! The harness of the benches, of `on_gpu`, of `peers` and of the example `benchmark`.
//!
//! - Measuring: [`clock`] times batches of operations on the device's clock, [`turns`] keeps their operands out of caches,
//!   [`repetitions`] says how many fill a time, [`paired`] times two sides in turn, [`peak`] what the device reaches at best.
//! - What the times say, and whether the results were right: [`statistics`], [`definition`].
//! - Results: [`about`] labels them; they are [`rows`] in JSON [`lines`], [`csv`] or a [`table`], in a [`file`](mod@file).
//! - Programs: [`environment`], [`process`], what criterion's benches print ([`output`]), and the [`Session`] of a bench.
#![allow(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "names say enough to its only users, the programs of this workspace and `peers`"
)]

pub mod about;
pub mod clock;
pub mod csv;
pub mod definition;
pub mod environment;
pub mod file;
pub mod lines;
pub mod output;
pub mod paired;
pub mod peak;
pub mod process;
pub mod repetitions;
pub mod rows;
pub mod statistics;
pub mod table;
pub mod turns;
pub mod unchecked;

use peak::Peaks;
use rows::FailedRow;
use serde_json::json;
use std::process::ExitCode;
use tilewise::gpu::DeviceType;
use tilewise::{Error, Gpu, Result};

/// Opens the device and measures on it; the exit status says whether everything ran.
///
/// Without a device one line says that nothing was measured, unless `GPU_REQUIRED=1` makes that an error.
pub fn main(measure: impl FnOnce(Session) -> Result<bool>) -> ExitCode {
    let gpu = match Gpu::open() {
        Err(Error::Unsupported { .. }) if std::env::var("GPU_REQUIRED").as_deref() != Ok("1") => {
            println!("{}", json!({ "skipped": "no adapter" }));
            return ExitCode::SUCCESS;
        }
        opened => opened,
    };
    support::ended(gpu.and_then(|gpu| measure(Session { gpu, testing: is_testing() })))
}

/// Whether `cargo bench -- --test` tries the bench and wants no figures.
fn is_testing() -> bool {
    std::env::args().any(|argument| argument == "--test")
}

/// One value for software devices, which are slow, and one for GPUs.
pub struct ByDevice<T> {
    /// For software devices.
    pub software: T,
    /// For GPUs.
    pub gpu: T,
}

/// A run of a bench.
pub struct Session {
    /// The device that is measured.
    pub gpu: Gpu,
    /// Whether the bench is only tried: one round of the smallest sizes.
    pub testing: bool,
}

/// Whether a device is a CPU.
pub fn is_software(gpu: &Gpu) -> bool {
    gpu.caps().device_type == DeviceType::Software
}

/// Whether `TILEWISE_ONLY`, a list of beginnings of names, selects this case; unset, it selects all.
pub fn wants(case: &str) -> bool {
    std::env::var("TILEWISE_ONLY").map_or(true, |only| only.split(',').any(|name| case.starts_with(name)))
}

impl Session {
    /// Whether the device is a CPU.
    pub fn is_software(&self) -> bool {
        is_software(&self.gpu)
    }

    /// The number of rounds: `rounds`, or one in tests.
    pub fn rounds(&self, rounds: usize) -> usize {
        if self.testing { 1 } else { rounds }
    }

    /// The peaks of the device; in tests, which want no figures, any.
    pub fn peaks(&self) -> Result<Peaks> {
        if self.testing {
            Ok(Peaks { copy: 1e9, f32: 1e9, ..Peaks::default() })
        } else {
            peak::measure(&self.gpu)
        }
    }

    /// The sizes: `tested` in tests, `TILEWISE_SIZES` if it is set, or else the default for this device.
    pub fn sizes(&self, tested: usize, default: &ByDevice<&[usize]>) -> Result<Vec<usize>> {
        self.list("TILEWISE_SIZES", tested, default)
    }

    /// The batches, likewise from `TILEWISE_BATCHES`.
    pub fn batches(&self, tested: usize, default: &ByDevice<&[usize]>) -> Result<Vec<usize>> {
        self.list("TILEWISE_BATCHES", tested, default)
    }

    fn list(&self, variable: &str, tested: usize, default: &ByDevice<&[usize]>) -> Result<Vec<usize>> {
        if self.testing {
            return Ok(vec![tested]);
        }
        let default = if self.is_software() { default.software } else { default.gpu };
        Ok(environment::list(variable)?.unwrap_or_else(|| default.to_vec()))
    }

    /// Runs `case` for every batch and every number of features, as `[batch, features]`; whether all of them ran.
    pub fn for_batches(
        &self,
        name: &str,
        features: &ByDevice<&[usize]>,
        batches: &ByDevice<&[usize]>,
        mut case: impl FnMut([usize; 2]) -> Result<()>,
    ) -> Result<bool> {
        let (features, batches) = (self.sizes(16, features)?, self.batches(4, batches)?);
        let mut ok = true;
        for &features in &features {
            for &batch in &batches {
                ok &= ran(name, features, case([batch, features]));
            }
        }
        Ok(ok)
    }
}

/// Whether a case ran. If it failed, a line says why; the other cases still run.
pub fn ran(case: &str, size: usize, result: Result<()>) -> bool {
    if let Err(error) = &result {
        let row = FailedRow { case: case.into(), size, error: error.to_string() };
        println!("{}", json!(row));
    }
    result.is_ok()
}
