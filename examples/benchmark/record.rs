//! A run as it is saved: every row with all of its rounds.

use crate::case::Case;
use crate::choice::{Choice, choice};
use crate::ready::Ready;
use crate::spread::Spread;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;
use std::time::SystemTime;
use tilewise::{Error, Gpu, Result};

/// The format of saved runs.
const FORMAT: &str = "tilewise benchmark 1";

/// What the device reaches at best, as measured in a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Peaks {
    /// f32 multiply-adds, in flop/s.
    pub(crate) fma: f64,
    /// Bytes read plus bytes written per second, by a copy.
    pub(crate) copy: f64,
    /// Multiply-adds on cooperative matrices, in flop/s, if the device has verified rows of them.
    pub(crate) matrices: Option<f64>,
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
    /// Operations on cooperative matrices, and all others.
    pub(crate) matrix_flops: f64,
    pub(crate) other_flops: f64,
    /// Bytes read and written.
    pub(crate) bytes: u64,
    /// Which entries were compared with f64.
    pub(crate) check: String,
    pub(crate) max_abs_err: f64,
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
    /// Whether the run came to its end.
    pub(crate) finished: bool,
    pub(crate) rows: Vec<Row>,
    pub(crate) left_out: Vec<LeftOut>,
}

impl Run {
    /// A run that begins.
    pub(crate) fn begin(gpu: &Gpu, peaks: Peaks) -> Self {
        let caps = gpu.caps();
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        Self {
            format: FORMAT.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            command: format!("benchmark {}", arguments.join(" ")).trim_end().into(),
            device: caps.adapter.clone(),
            backend: caps.backend.clone(),
            driver: caps.driver.clone(),
            peaks,
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
            known.bound_ratio = known.bound_ratio.max(row.bound_ratio);
            known.max_abs_err = known.max_abs_err.max(row.max_abs_err);
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
        let Peaks { fma, copy, matrices } = &self.peaks;
        if ![Some(fma), Some(copy), matrices.as_ref()].into_iter().flatten().all(is_positive) {
            return Err("its peaks are no positive numbers".into());
        }
        for row in &self.rows {
            let is_figure = |x: &f64| x.is_finite() && *x >= 0.0;
            let figures = [row.matrix_flops, row.other_flops, row.predicted_seconds];
            if row.rounds.is_empty() || !row.rounds.iter().all(is_positive) || !figures.iter().all(is_figure)
            {
                return Err(format!("the row {} has no times, or figures below zero", row.name()));
            }
        }
        Ok(())
    }
}

impl Row {
    /// A case that is ready, before its first round.
    pub(crate) fn new(case: &Case, ready: &Ready) -> Self {
        let ([m, n, k], work, checked) = (case.shape, ready.plan.work(), &ready.checked);
        let [kernel, tile] = ready.kernel();
        Self {
            op: case.name(),
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
            matrix_flops: work.flops.matrix,
            other_flops: work.flops.sum() - work.flops.matrix,
            bytes: work.bytes(),
            check: checked.name.clone(),
            max_abs_err: checked.found.max_abs_err,
            bound_ratio: checked.found.bound_ratio,
            ok: checked.found.ok(),
        }
    }

    /// `512`, `64x4096x1024`: the size.
    pub(crate) fn size(&self) -> String {
        let Self { m, n, k, .. } = self;
        if m == n && n == k { m.to_string() } else { format!("{m}x{n}x{k}") }
    }

    /// What identifies the row in every run: `gemm 512 f32 strict`, and the kernel that is pinned.
    pub(crate) fn name(&self) -> String {
        let of = |part: &Option<String>| part.as_ref().map_or(String::new(), |part| format!(" {part}"));
        format!("{} {} {}{}{}", self.op, self.size(), self.dtype, of(&self.precision), of(&self.pinned))
    }

    /// The kernel without its folder.
    pub(crate) fn kernel_name(&self) -> &str {
        self.kernel.rsplit('/').next().unwrap_or(&self.kernel)
    }

    pub(crate) fn spread(&self) -> Spread {
        Spread::of(&self.rounds)
    }

    pub(crate) fn flops(&self) -> f64 {
        self.matrix_flops + self.other_flops
    }

    /// The measured time over the predicted one.
    pub(crate) fn over_predicted(&self) -> f64 {
        self.spread().median / self.predicted_seconds
    }
}
