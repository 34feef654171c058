//! The report: plan, roofline, candidates.

use crate::candidates::Candidate;
use crate::convolutions::{Convolution, heading};
use serde_json::{Value, json};
use std::fmt;
use support::{chosen_kernel, significant};
use tilewise::planning::gemm::GemmProblem;
use tilewise::{Caps, Plan, Precision};

/// What is known of a product before it runs.
pub(crate) struct Report {
    /// The fixture's name; None for the device of this machine.
    pub(crate) fixture: Option<&'static str>,
    pub(crate) caps: Caps,
    pub(crate) problem: GemmProblem,
    pub(crate) layout: &'static str,
    pub(crate) precision: Precision,
    pub(crate) plan: Plan,
    /// The texts of its kernels, if they were asked for.
    pub(crate) texts: Vec<String>,
    /// From the fastest to the slowest.
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) convolutions: Vec<Convolution>,
}

/// The roofline model: operations at the peak of the unit that computes them, or bytes at the bandwidth of device memory,
/// whichever takes longer.
struct Roofline {
    /// The unit, and its peak in flop/s.
    unit: &'static str,
    peak: f64,
    /// Operations by the definition of the product.
    flops: f64,
    /// Bytes of A, B and C, each once.
    bytes: f64,
    /// Bytes/s of device memory.
    bandwidth: f64,
}

impl Roofline {
    fn of(report: &Report) -> Self {
        let machine = &report.caps.machine;
        let (types, planned) = (report.problem.types(), report.plan.work().flops);
        let matrices = match types.ab.is_fp8() {
            true => ("matrices of fp8", planned.matrix, machine.fp8_matrix_flops),
            false => ("matrices", planned.matrix, machine.matrix_flops),
        };
        let units = [
            ("f32", planned.f32, machine.f32_flops),
            ("f16", planned.f16, machine.f16_flops),
            ("integers", planned.integer, machine.i8_flops),
            matrices,
            ("matrices of integers", planned.integer_matrix, machine.i8_matrix_flops),
        ];
        // The unit of most operations. A plan has at least one step, as the product has elements.
        let [first, ..] = units;
        let (unit, _, peak) =
            units.into_iter().fold(first, |most, one| if one.1 > most.1 { one } else { most });
        let [m, n, k] = report.sizes();
        let [ab, c] = [types.ab, types.c].map(|dtype| dtype.size() as f64);
        let bytes = (m * k + k * n) * ab + m * n * c;
        Self { unit, peak, flops: report.problem.flops(), bytes, bandwidth: machine.memory_bandwidth }
    }

    /// Operations for each byte of the product, and the number from which the peak is the limit.
    fn intensities(&self) -> [f64; 2] {
        [self.flops / self.bytes, self.peak / self.bandwidth]
    }

    fn bound(&self) -> &'static str {
        let [intensity, ridge] = self.intensities();
        if intensity < ridge { "memory" } else { "arithmetic" }
    }

    fn seconds(&self) -> f64 {
        (self.flops / self.peak).max(self.bytes / self.bandwidth)
    }
}

impl Report {
    fn sizes(&self) -> [f64; 3] {
        let dims = self.problem.dims();
        [dims.m, dims.n, dims.k].map(f64::from)
    }

    pub(crate) fn json(&self) -> Value {
        let (dims, types, roofline) = (self.problem.dims(), self.problem.types(), Roofline::of(self));
        let [intensity, ridge] = roofline.intensities();
        let seconds = self.plan.seconds();
        json!({
            "fixture": self.fixture,
            "device": self.caps.adapter,
            "backend": self.caps.backend,
            "m": dims.m,
            "n": dims.n,
            "k": dims.k,
            "dtype": types.ab.to_string(),
            "out_dtype": types.c.to_string(),
            "layout": self.layout,
            "precision": self.precision.to_string(),
            "kernel": chosen_kernel(&self.plan),
            "plan": self.plan.to_string(),
            "seconds": seconds,
            "reasons": self.plan.reasons(),
            "texts": self.texts,
            "roofline": {
                "unit": roofline.unit,
                "peak_flops": roofline.peak,
                "memory_bytes": roofline.bandwidth,
                "flops": roofline.flops,
                "bytes": roofline.bytes,
                "intensity": intensity,
                "ridge": ridge,
                "bound": roofline.bound(),
                "seconds": roofline.seconds(),
            },
            "share_of_peak": roofline.flops / seconds / roofline.peak,
            "share_of_roofline": roofline.seconds() / seconds,
            "candidates": self.candidates.iter().map(Candidate::json).collect::<Vec<_>>(),
            "convolutions": self.convolutions.iter().map(Convolution::json).collect::<Vec<_>>(),
        })
    }
}

/// A number with a prefix of the SI: `1.5 G`.
fn scaled(value: f64) -> String {
    let prefixes = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "u")];
    let (scale, prefix) = prefixes.into_iter().find(|(scale, _)| value >= *scale).unwrap_or((1e-9, "n"));
    format!("{} {prefix}", significant(value / scale))
}

fn percent(share: f64) -> String {
    format!("{}%", significant(100.0 * share))
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (types, layout, precision) = (self.problem.types(), self.layout, self.precision);
        let [m, n, k] = self.sizes();
        let known = self.fixture.map_or("this machine's".to_owned(), |name| format!("fixture {name}"));
        let plan = self.plan.to_string().replace("\n  ", "\n           ");
        writeln!(f, "device     {} ({known}), {}", self.caps.adapter, self.caps.backend)?;
        writeln!(
            f,
            "product    ({m}, {k}) x ({k}, {n}), {ab} x {ab} -> {c}, {layout}, {precision}",
            ab = types.ab,
            c = types.c
        )?;
        writeln!(f, "plan       {plan}")?;
        self.roofline(f)?;
        writeln!(f, "{:<66} predicted  times  inner loop, share of the peak", "candidates")?;
        let fastest = self.candidates.first().map_or(0.0, |one| one.seconds);
        self.candidates.iter().try_for_each(|one| candidate(f, one, fastest))?;
        if let Some(inner) = self.candidates.iter().find_map(|one| one.inner_loop) {
            writeln!(f, "Inner loops as Mesa {} compiles them for {}.", inner.mesa, inner.target)?;
        }
        self.convolutions(f)?;
        self.texts.iter().try_for_each(|text| write!(f, "\n{text}"))
    }
}

impl Report {
    fn convolutions(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.convolutions.is_empty() {
            return Ok(());
        }
        writeln!(f, "{:<66} predicted  on matrix units  kernel", heading())?;
        self.convolutions.iter().try_for_each(|one| {
            let (time, share) = (format!("{}s", scaled(one.plan.seconds())), percent(one.on_matrix_units));
            writeln!(f, "  {:<64} {time:>9} {share:>16}  {}", one.name, one.kernel())
        })
    }

    fn roofline(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let roofline = Roofline::of(self);
        let Roofline { unit, peak, flops, bytes, bandwidth } = roofline;
        let [intensity, ridge] = roofline.intensities().map(significant);
        let [flops_text, bytes, peak_text, bandwidth, least] =
            [flops, bytes, peak, bandwidth, roofline.seconds()].map(scaled);
        let bound = roofline.bound();
        writeln!(f, "roofline   {flops_text}FLOP over {bytes}B: {intensity} FLOP/B")?;
        writeln!(
            f,
            "           peaks {peak_text}FLOP/s ({unit}), {bandwidth}B/s: they meet at {ridge} FLOP/B"
        )?;
        writeln!(f, "           bound by {bound}: {least}s at the least")?;
        let seconds = self.plan.seconds();
        let shares = [flops / seconds / peak, roofline.seconds() / seconds].map(percent);
        let [of_peak, of_roofline] = shares;
        writeln!(
            f,
            "predicted  {}s: {} of the peak, {} of the roofline",
            scaled(seconds),
            of_peak,
            of_roofline
        )
    }
}

/// A candidate's line, and next to it what its inner loop can reach.
fn candidate(f: &mut fmt::Formatter<'_>, one: &Candidate, fastest: f64) -> fmt::Result {
    let Candidate { tile, splits, seconds, share, inner_loop } = one;
    let splits = if *splits > 1 { format!(", {splits} splits of k") } else { String::new() };
    let what = format!("{} {tile}{splits}", tile.kernel);
    let [time, times, share] =
        [format!("{}s", scaled(*seconds)), significant(seconds / fastest), percent(*share)];
    write!(f, "  {what:<64} {time:>9} {times:>6} {share:>11}")?;
    let Some(inner) = inner_loop else { return writeln!(f, "  by a formula") };
    let plural = if inner.multiply_adds == 1 { "" } else { "s" };
    write!(f, "  {} multiply-add{plural} in {} instructions", inner.multiply_adds, inner.instructions)?;
    match inner.registers {
        0 => writeln!(f),
        registers => writeln!(f, ", {registers} registers"),
    }
}
