//! A run as it is saved: every row with all of its rounds.

use crate::case::{Case, size};
use crate::choice::{Choice, choice};
use crate::figure;
use crate::ready::Ready;
use crate::roofline::Peak;
use bench::about;
use bench::peak::Peaks;
use bench::statistics::{FastQuarter, Spread};
use bench::turns::Turns;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;
use tilewise::gpu::RateSource;
use tilewise::{Error, Gpu, Result};

/// The format of saved runs.
const FORMAT: &str = "tilewise benchmark 2";

/// Operations by the unit that computes them, as the plan counts them.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Operations {
    pub(crate) f32: f64,
    pub(crate) f16: f64,
    /// Multiply-adds of i8, and what generates random numbers.
    pub(crate) integer: f64,
    /// Multiply-adds on cooperative matrices; those of i8 too, whose peak is higher.
    pub(crate) matrix: f64,
}

/// A measured case.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) op: String,
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) k: usize,
    pub(crate) dtype: String,
    /// Of products of f32.
    pub(crate) precision: Option<String>,
    /// The kernel that was asked for.
    pub(crate) pinned: Option<String>,
    pub(crate) choice: Choice,
    /// The kernel that ran, and its tile.
    pub(crate) kernel: String,
    pub(crate) tile: String,
    /// Operations that are timed together.
    pub(crate) together: u64,
    /// `gpu` or `host`.
    pub(crate) clock: String,
    /// Seconds of one operation in each round.
    pub(crate) rounds: Vec<f64>,
    pub(crate) predicted_seconds: f64,
    pub(crate) flops: Operations,
    /// Bytes read and written, each element once.
    pub(crate) bytes: u64,
    pub(crate) turns: Turns,
    /// Which entries were compared with f64.
    pub(crate) check: String,
    #[serde(with = "figure")]
    pub(crate) max_abs_err: f64,
    #[serde(with = "figure")]
    pub(crate) bound_ratio: f64,
    pub(crate) ok: bool,
}

/// A case that was not measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LeftOut {
    pub(crate) case: String,
    pub(crate) why: String,
}

/// A run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) format: String,
    pub(crate) version: String,
    pub(crate) date: String,
    pub(crate) command: String,
    pub(crate) device: String,
    pub(crate) backend: String,
    pub(crate) driver: String,
    pub(crate) peaks: Peaks,
    /// Bytes of the device's last cache, as assumed.
    pub(crate) cache_bytes: u64,
    /// Whether the rates that predictions start from were measured on this device, in an earlier run.
    pub(crate) rates_measured: bool,
    /// Whether the run came to its end.
    pub(crate) finished: bool,
    pub(crate) rows: Vec<Row>,
    pub(crate) left_out: Vec<LeftOut>,
}

impl Run {
    /// A run that begins.
    pub(crate) fn begin(gpu: &Gpu, peaks: Peaks) -> Self {
        let caps = gpu.caps();
        Self {
            format: FORMAT.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            date: about::now(),
            command: about::command("benchmark"),
            device: caps.adapter.clone(),
            backend: caps.backend.clone(),
            driver: caps.driver.clone(),
            peaks,
            cache_bytes: caps.machine.cache_size,
            rates_measured: caps.machine.rates == RateSource::Measured,
            finished: false,
            rows: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// The row of this name, or this one as a new row. The worse of two checks counts.
    pub(crate) fn row(&mut self, row: Row) -> &mut Row {
        let name = row.name();
        let at = self.rows.iter().position(|known| known.name() == name).unwrap_or(self.rows.len());
        if at == self.rows.len() {
            self.rows.push(row);
        } else {
            let known = &mut self.rows[at];
            known.ok &= row.ok;
            known.bound_ratio = worse(known.bound_ratio, row.bound_ratio);
            known.max_abs_err = worse(known.max_abs_err, row.max_abs_err);
        }
        &mut self.rows[at]
    }

    pub(crate) fn leave_out(&mut self, case: &Case, why: String) {
        let case = case.to_string();
        if !self.left_out.iter().any(|known| known.case == case) {
            self.left_out.push(LeftOut { case, why });
        }
    }

    /// Reads the saved run that an option names.
    pub(crate) fn load(option: &str, path: &Path) -> Result<Self> {
        let refuse = |why: String| Error::Input { what: format!("{option} {}", path.display()), why };
        let text =
            std::fs::read_to_string(path).map_err(|error| refuse(format!("cannot be read: {error}")))?;
        let value: Value = serde_json::from_str(&text)
            .map_err(|error| refuse(format!("is no saved run, nor other JSON: {error}")))?;
        match value.get("format") {
            Some(Value::String(format)) if format == FORMAT => {}
            Some(format) => return Err(refuse(format!("has the format {format}; this reads \"{FORMAT}\""))),
            None => return Err(refuse("is JSON, but no run that --save wrote: it has no `format`".into())),
        }
        let run: Self =
            serde_json::from_value(value).map_err(|error| refuse(format!("is no saved run: {error}")))?;
        run.check().map_err(refuse)?;
        Ok(run)
    }

    /// Refuses figures that no run has.
    fn check(&self) -> Result<(), String> {
        let is_positive = |x: &f64| x.is_finite() && *x > 0.0;
        let Peaks { copy, f32, f16, i8, matrices } = self.peaks;
        if ![Some(copy), Some(f32), f16, i8, matrices].iter().flatten().all(is_positive) {
            return Err("its peaks are no positive numbers".into());
        }
        for row in &self.rows {
            let is_figure = |x: &f64| x.is_finite() && *x >= 0.0;
            let Operations { f32, f16, integer, matrix } = row.flops;
            let figures = [f32, f16, integer, matrix, row.predicted_seconds];
            if row.rounds.is_empty() || !row.rounds.iter().all(is_positive) || !figures.iter().all(is_figure)
            {
                return Err(format!("the row {} has no times, or figures below zero", row.name()));
            }
            if row.ok != (row.bound_ratio <= 1.0) {
                return Err(format!(
                    "the row {} has `ok` {} with an error of {} of the bound",
                    row.name(),
                    row.ok,
                    row.bound_ratio
                ));
            }
        }
        Ok(())
    }
}

/// The worse of two errors: one that is no number is the worst.
fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

impl Operations {
    /// Those that this peak limits.
    pub(crate) fn on(&self, peak: Peak) -> f64 {
        match peak {
            Peak::Copy => 0.0,
            Peak::F32 => self.f32,
            Peak::F16 => self.f16,
            Peak::I8 => self.integer,
            Peak::Matrices => self.matrix,
        }
    }
}

impl Row {
    /// A case that is ready, before its first round.
    pub(crate) fn new(case: &Case, ready: &Ready) -> Self {
        let ([m, n, k], work, checked) = (case.shape, ready.plan.work(), &ready.checked);
        let [kernel, tile] = ready.kernel();
        Self {
            op: case.operation(),
            m,
            n,
            k,
            dtype: case.dtype.to_string(),
            precision: case.precision.map(|precision| precision.to_string()),
            pinned: case.pin.map(|kernel| kernel.to_string()),
            choice: choice(case, &ready.plan),
            kernel,
            tile,
            together: ready.operations(),
            clock: String::new(),
            rounds: Vec::new(),
            predicted_seconds: ready.plan.seconds(),
            flops: Operations {
                f32: work.flops.f32,
                f16: work.flops.f16,
                integer: work.flops.integer,
                matrix: work.flops.matrix + work.flops.integer_matrix,
            },
            turns: ready.turns,
            bytes: work.bytes(),
            check: checked.name.clone(),
            max_abs_err: checked.found.max_abs_err,
            bound_ratio: checked.found.bound_ratio,
            ok: checked.found.ok(),
        }
    }

    /// `512`, `64x4096x1024`: the size.
    pub(crate) fn size(&self) -> String {
        size([self.m, self.n, self.k])
    }

    /// The size, with a mark if the operands that take turns fit in the cache.
    pub(crate) fn marked_size(&self) -> String {
        self.size() + if self.turns.in_cache { "*" } else { "" }
    }

    /// What identifies the row in every run, as its case is displayed: `gemm 512 f32 strict`, and the kernel that is pinned.
    pub(crate) fn name(&self) -> String {
        let of = |part: &Option<String>| part.as_ref().map_or(String::new(), |part| format!(" {part}"));
        format!("{} {} {}{}{}", self.op, self.size(), self.dtype, of(&self.precision), of(&self.pinned))
    }

    /// The kernel without its folder.
    pub(crate) fn kernel_name(&self) -> &str {
        self.kernel.rsplit('/').next().unwrap_or(&self.kernel)
    }

    pub(crate) fn spread(&self) -> Spread {
        Spread::of(&self.rounds).expect("a row has a round at least")
    }

    pub(crate) fn fast_quarter(&self) -> FastQuarter {
        FastQuarter::of(&self.rounds).expect("a row has a round at least")
    }

    /// The operations that count for its speed. Of a matrix product those of the definition, of other operations those of the
    /// plan on real numbers, or on integers if it has no others.
    pub(crate) fn operations(&self) -> f64 {
        if self.op == "gemm" || self.op == "gemv" {
            return 2.0 * self.m as f64 * self.n as f64 * self.k as f64;
        }
        let Operations { f32, f16, integer, matrix } = self.flops;
        let real = f32 + f16 + matrix;
        if real > 0.0 { real } else { integer }
    }

    /// The measured time over the predicted one.
    pub(crate) fn over_predicted(&self) -> f64 {
        self.spread().median / self.predicted_seconds
    }
}
