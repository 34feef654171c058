//! The report of a product: its error against the definition, its plan and its times.

use super::{chosen_kernel, significant, splitmix};
use serde_json::{Value, json};
use std::fmt;
use tilewise::gemm::Accumulator;
use tilewise::gpu::{Clock, Timing};
use tilewise::reference::{self, Comparison};
use tilewise::{DType, Element, Gpu, Plan, Precision};

/// The most multiply-adds for which every entry of the product is checked.
const FULL_CHECK: f64 = (1u64 << 30) as f64;
/// The number of entries that are checked of a larger product.
const ENTRIES: usize = 4096;

/// How a product may be rounded, which decides its bound.
#[derive(Clone, Copy)]
pub struct Rounding {
    pub sums: Accumulator,
    pub precision: Precision,
}

/// Compares the product with its definition in f64. Returns the name of the check and the comparison.
pub fn verify<T: Element, C: Element>(
    a: &[T],
    b: &[T],
    c: &[C],
    size: [usize; 3],
    Rounding { sums, precision }: Rounding,
    seed: u64,
) -> (String, Comparison) {
    let [m, n, _] = size;
    if size.iter().map(|&extent| extent as f64).product::<f64>() <= FULL_CHECK {
        return (
            "full".into(),
            reference::gemm(a, b, size).accumulator(sums).precision(precision).compare(c),
        );
    }
    let mut random = splitmix(seed);
    let mut below = |limit: usize| usize::try_from(random() % limit as u64).unwrap_or(0);
    let places: Vec<[usize; 2]> = (0..ENTRIES).map(|_| [below(m), below(n)]).collect();
    let picked: Vec<C> = places.iter().map(|&[row, col]| c[row * n + col]).collect();
    let entries = reference::gemm_entries(a, b, size, &places).accumulator(sums).precision(precision);
    let entries = entries.compare(&picked);
    if precision != Precision::Strict {
        // The bound of a projection is that of strict products.
        return (format!("{ENTRIES} entries"), entries);
    }
    let signs: Vec<f64> = (0..n).map(|_| if below(2) == 0 { 1.0 } else { -1.0 }).collect();
    let rows = reference::projection(a, b, c, size, &signs, sums);
    let bound_ratio = entries.bound_ratio.max(rows.bound_ratio);
    (format!("{ENTRIES} entries and a projection"), Comparison { bound_ratio, ..entries })
}

/// The results of a product.
pub struct Report {
    pub gpu: Gpu,
    pub plan: Plan,
    pub size: [usize; 3],
    pub types: [DType; 2],
    pub layout: &'static str,
    pub precision: Precision,
    pub timings: Vec<Timing>,
    pub check: String,
    pub found: Comparison,
}

impl Report {
    /// The fastest, the median and the slowest time, in seconds.
    fn seconds(&self) -> [f64; 3] {
        let mut seconds: Vec<f64> = self.timings.iter().map(|timing| timing.seconds).collect();
        seconds.sort_by(f64::total_cmp);
        let at = |place: usize| seconds.get(place).copied().unwrap_or(0.0);
        let last = seconds.len().saturating_sub(1);
        [at(0), f64::midpoint(at(last / 2), at(last.div_ceil(2))), at(last)]
    }

    fn tflops(&self) -> f64 {
        let flops = 2.0 * self.size.iter().map(|&extent| extent as f64).product::<f64>();
        let [_, median, _] = self.seconds();
        if median > 0.0 { flops / median * 1e-12 } else { 0.0 }
    }

    fn clock(&self) -> &'static str {
        match self.timings.first().map(|timing| timing.clock) {
            Some(Clock::Gpu) => "gpu",
            Some(Clock::Host) => "host",
            None => "none",
        }
    }

    /// Whether everything that was checked is within its bound.
    pub fn ok(&self) -> bool {
        self.found.ok()
    }

    pub fn json(&self) -> Value {
        let caps = self.gpu.caps();
        let [m, n, k] = self.size;
        let [dtype, out_dtype] = self.types.map(|dtype| dtype.to_string());
        let [min, median, max] = self.seconds();
        json!({
            "device": caps.adapter,
            "backend": caps.backend,
            "driver": caps.driver,
            "kernel": chosen_kernel(&self.plan),
            "plan": self.plan.to_string(),
            "m": m,
            "n": n,
            "k": k,
            "dtype": dtype,
            "out_dtype": out_dtype,
            "layout": self.layout,
            "precision": self.precision.to_string(),
            "repeat": self.timings.len(),
            "clock": self.clock(),
            "gpu_seconds_median": median,
            "gpu_seconds_min": min,
            "gpu_seconds_max": max,
            "tflops": self.tflops(),
            "check": self.check,
            "max_abs_err": self.found.max_abs_err,
            "bound_ratio": self.found.bound_ratio,
            "ok": self.ok(),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let caps = self.gpu.caps();
        let [m, n, k] = self.size;
        let [dtype, out_dtype] = self.types;
        let [min, median, max] = self.seconds().map(|seconds| significant(seconds * 1e3));
        let Comparison { max_abs_err, bound_ratio, .. } = self.found;
        let verdict = if self.ok() { "ok" } else { "WRONG" };
        let plan = self.plan.to_string().replace("\n  ", "\n           ");
        writeln!(f, "device     {}, {}, {}", caps.adapter, caps.backend, caps.driver)?;
        let precision = if dtype == DType::F32 { format!(", {}", self.precision) } else { String::new() };
        let layout = self.layout;
        writeln!(
            f,
            "product    ({m}, {k}) x ({k}, {n}), {dtype} x {dtype} -> {out_dtype}, {layout}{precision}"
        )?;
        writeln!(f, "plan       {plan}")?;
        match self.timings.len() {
            0 => writeln!(f, "time       none: C is empty")?,
            runs => {
                writeln!(f, "time       {median} ms ({min} to {max}; {runs} runs, {} clock)", self.clock())?
            }
        }
        let unit = if dtype.is_float() { "TFLOP/s" } else { "TOP/s" };
        writeln!(f, "speed      {} {unit}", significant(self.tflops()))?;
        writeln!(f, "error      at most {max_abs_err:.2e}, {} of the bound", significant(bound_ratio))?;
        writeln!(f, "check      {verdict} ({}, against f64)", self.check)
    }
}
