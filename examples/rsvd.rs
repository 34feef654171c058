//! Factorises a matrix by a randomised singular value decomposition, and compares it with the exact one in f64.
//!
//! ```sh
//! cargo run --release --example rsvd
//! cargo run --release --example rsvd -- --tolerance 0.5 --svg spectrum.svg
//! cargo run --release --example rsvd -- --matrix a.npy --rank 20 --out factors --json
//! ```
//! Without a file it takes the weight of a feed-forward layer of a sentence encoder, in `examples/data`. It prints the
//! singular values next to the exact ones, the residual next to the least that any matrix of that rank has, and the
//! time of each part. The exit status is 0 only if the residual is at most 1.05 times the least plus 1e-6 of the norm,
//! and the vectors are orthonormal.

use clap::Parser;
use faer::Mat;
use pictures::chart::{Chart, Curve, Mark, Scale};
use plotters::style::RGBColor;
use serde_json::{Value, json};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use support::{reported, significant};
use tilewise::io::{Npy, Safetensors, write_npy, write_npy_slice};
use tilewise::sketch::{Rsvd, Svd};
use tilewise::{DType, Error, Gpu, Result, Tensor, bf16, f16};

/// Largest residual over the least possible.
const MAX_OVER_LEAST: f64 = 1.05;
/// Allowance for rounding, relative to the norm.
const ROUNDING: f64 = 1e-6;
/// Default rank, if there is no tolerance.
const RANK: usize = 64;

/// Factorises a matrix by a randomised singular value decomposition, and compares it with the exact one.
#[derive(Parser)]
struct Args {
    /// The matrix: a `.npy` file of f32 or f16
    #[arg(long, conflicts_with = "weights")]
    matrix: Option<PathBuf>,
    /// A `.safetensors` file; the weights of a feed-forward layer in `examples/data` by default
    #[arg(long, default_value_os_t = support::data("minilm_layer2_ffn.safetensors"), hide_default_value = true)]
    weights: PathBuf,
    /// The tensor of that file
    #[arg(long, default_value = "intermediate.dense.weight")]
    tensor: String,
    /// Number of singular values; with a tolerance, the largest number. 64 unless there is a tolerance
    #[arg(long)]
    rank: Option<usize>,
    /// Looks for the least rank whose residual, relative to the norm of the matrix, is at most this
    #[arg(long)]
    tolerance: Option<f64>,
    /// The seed of the random combinations
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Draws the singular values into this file
    #[arg(long)]
    svg: Option<PathBuf>,
    /// Writes the factors as `PREFIX_u.npy`, `PREFIX_s.npy` and `PREFIX_v.npy`
    #[arg(long)]
    out: Option<String>,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    reported(run(&args), args.json, Report::json, Report::ok)
}

fn run(args: &Args) -> Result<Report> {
    let gpu = Gpu::open()?;
    let (name, a) = matrix(args, &gpu)?;
    let mut rsvd = Rsvd::new(&a).seed(args.seed);
    if let Some(tolerance) = args.tolerance {
        rsvd = rsvd.tolerance(tolerance);
    }
    if let Some(rank) = args.rank.or(args.tolerance.is_none().then_some(RANK)) {
        rsvd = if args.rank.is_some() { rsvd.rank(rank) } else { rsvd.rank(rank).clamped() };
    }
    // The first run compiles the kernels, up to that of the last product; the second is timed.
    rsvd.run()?.u.to_vec()?;
    let start = Instant::now();
    let svd = rsvd.run()?;
    let seconds = start.elapsed().as_secs_f64();
    let report = Report::new(name, &gpu, &a, svd, seconds)?;
    if let Some(path) = &args.svg {
        let written = std::fs::write(path, report.picture()?);
        written.map_err(|e| refuse(path, format!("cannot be written: {e}")))?;
    }
    if let Some(prefix) = &args.out {
        write_npy(format!("{prefix}_u.npy"), &report.svd.u)?;
        write_npy(format!("{prefix}_v.npy"), &report.svd.v)?;
        #[expect(clippy::cast_possible_truncation, reason = "rounded, as the vectors are")]
        let s: Vec<f32> = report.svd.s.iter().map(|&s| s as f32).collect();
        write_npy_slice(format!("{prefix}_s.npy"), [s.len()], &s)?;
    }
    Ok(report)
}

fn refuse(path: &Path, why: String) -> Error {
    Error::Input { what: path.display().to_string(), why }
}

/// The matrix in f32, and its name.
fn matrix(args: &Args, gpu: &Gpu) -> Result<(String, Tensor<f32>)> {
    let other = |path: &Path, dtype: &str| {
        refuse(path, format!("holds {dtype}; the matrix must be of f32, f16 or bf16"))
    };
    if let Some(path) = &args.matrix {
        let array = Npy::read(path)?;
        let a = match array.dtype() {
            Some(DType::F32) => array.tensor::<f32>(gpu)?,
            Some(DType::F16) => array.tensor::<f16>(gpu)?.cast()?,
            Some(dtype) => return Err(other(path, &dtype.to_string())),
            None => return Err(other(path, array.data().type_name())),
        };
        return Ok((path.display().to_string(), a));
    }
    let (file, name) = (Safetensors::read(&args.weights)?, &args.tensor);
    let a = match file.dtype(name)? {
        Some(DType::F32) => file.tensor::<f32>(gpu, name)?,
        Some(DType::F16) => file.tensor::<f16>(gpu, name)?.cast()?,
        Some(DType::Bf16) => file.tensor::<bf16>(gpu, name)?.cast()?,
        Some(dtype) => return Err(other(&args.weights, &dtype.to_string())),
        None => return Err(other(&args.weights, "another type")),
    };
    Ok((name.clone(), a))
}

/// The factorisation, compared with the exact one.
struct Report {
    name: String,
    device: String,
    shape: Vec<usize>,
    svd: Svd,
    /// All singular values, in f64.
    exact: Vec<f64>,
    rel_residual: f64,
    optimal_rel_residual: f64,
    /// The larger of ||U^T U - I|| and ||V^T V - I||, in the Frobenius norm.
    orthogonality: f64,
    seconds: f64,
    exact_seconds: f64,
}

impl Report {
    fn new(name: String, gpu: &Gpu, a: &Tensor<f32>, svd: Svd, seconds: f64) -> Result<Self> {
        let shape = a.shape().to_vec();
        let [a, u, v] = [read(a)?, read(&svd.u)?, read(&svd.v)?];
        let start = Instant::now();
        let exact = a.singular_values().map_err(|e| Error::Input {
            what: name.clone(),
            why: format!("computing its exact decomposition failed: {e:?}"),
        })?;
        let exact_seconds = start.elapsed().as_secs_f64();
        let us = Mat::from_fn(u.nrows(), svd.rank, |i, j| u[(i, j)] * svd.s[j]);
        let norm = a.norm_l2().max(f64::MIN_POSITIVE);
        let rel_residual = (&a - us * v.transpose()).norm_l2() / norm;
        let tail: f64 = exact.iter().skip(svd.rank).map(|s| s * s).sum();
        let off = |q: &Mat<f64>| (q.transpose() * q - Mat::<f64>::identity(svd.rank, svd.rank)).norm_l2();
        let orthogonality = off(&u).max(off(&v));
        let device = gpu.caps().adapter.clone();
        let optimal_rel_residual = tail.sqrt() / norm;
        Ok(Self {
            name,
            device,
            shape,
            svd,
            exact,
            rel_residual,
            optimal_rel_residual,
            orthogonality,
            seconds,
            exact_seconds,
        })
    }

    fn ok(&self) -> bool {
        let orthonormal = self.orthogonality <= self.svd.rank as f64 * 2f64.powi(-20);
        orthonormal && self.rel_residual <= MAX_OVER_LEAST * self.optimal_rel_residual + ROUNDING
    }

    fn json(&self) -> Value {
        json!({
            "matrix": self.name,
            "shape": self.shape,
            "device": self.device,
            "rank": self.svd.rank,
            "rel_residual": self.rel_residual,
            "optimal_rel_residual": self.optimal_rel_residual,
            "orthogonality": self.orthogonality,
            "seconds": self.seconds,
            "exact_seconds": self.exact_seconds,
            "timings": {
                "sketches": self.svd.timings.sketches.as_secs_f64(),
                "products": self.svd.timings.products.as_secs_f64(),
                "small": self.svd.timings.small.as_secs_f64(),
                "checks": self.svd.timings.checks.as_secs_f64(),
            },
            "singular_values": self.svd.s,
            "exact_singular_values": &self.exact[..self.svd.rank.min(self.exact.len())],
            "ok": self.ok(),
        })
    }

    /// Singular values over their index, found and exact, on a logarithmic axis.
    fn picture(&self) -> Result<String> {
        let indexed = |s: &[f64]| s.iter().enumerate().map(|(i, &s)| [i as f64 + 1.0, s]).collect();
        let curve = |name: &str, color, mark, s| Curve { name: name.into(), color, mark, points: indexed(s) };
        let [found, least] = [self.rel_residual, self.optimal_rel_residual].map(significant);
        let chart = Chart {
            title: format!("Singular values of {} ({} x {})", self.name, self.shape[0], self.shape[1]),
            subtitle: format!("rank {}, residual {found} (least {least})", self.svd.rank),
            labels: ["index".into(), "singular value".into()],
            scales: [Scale::Linear, Scale::Logarithmic],
            curves: vec![
                curve("exact", RGBColor(0x88, 0x88, 0x88), Mark::Line, &self.exact),
                curve("found", RGBColor(0xcc, 0x33, 0x33), Mark::Dots, &self.svd.s),
            ],
        };
        chart.svg()
    }
}

/// A tensor in f64.
fn read(tensor: &Tensor<f32>) -> Result<Mat<f64>> {
    let (values, cols) = (tensor.to_vec()?, tensor.shape()[1]);
    Ok(Mat::from_fn(tensor.shape()[0], cols, |i, j| f64::from(values[i * cols + j])))
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { svd, .. } = self;
        writeln!(f, "device     {}", self.device)?;
        writeln!(f, "matrix     {}, {} x {}", self.name, self.shape[0], self.shape[1])?;
        writeln!(f, "rank       {}", svd.rank)?;
        writeln!(f, "  i     found     exact")?;
        let step = (svd.rank / 8).max(1);
        for i in (0..svd.rank).step_by(step) {
            let exact = self.exact.get(i).copied().unwrap_or(0.0);
            writeln!(f, "{:>3} {:>9} {:>9}", i + 1, significant(svd.s[i]), significant(exact))?;
        }
        let [found, least] = [self.rel_residual, self.optimal_rel_residual].map(significant);
        writeln!(f, "residual   {found} of the norm, least possible {least}")?;
        writeln!(f, "vectors    orthonormal to {}", significant(self.orthogonality))?;
        writeln!(f, "time       {:.1} ms: {}", self.seconds * 1e3, svd.timings)?;
        writeln!(
            f,
            "exact      {:.1} ms for the singular values, in f64 on {} of the CPU",
            self.exact_seconds * 1e3,
            if cfg!(feature = "threads") { "all threads" } else { "one thread" }
        )?;
        writeln!(f, "check      {}", if self.ok() { "ok" } else { "FAILED" })
    }
}
