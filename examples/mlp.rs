//! Recognises handwritten digits with a perceptron of two layers, in f32, f16 and bf16, and checks it against f64.
//!
//! ```sh
//! cargo run --release --example mlp
//! cargo run --release --example mlp -- --json
//! ```
//! The digits, the weights and the script that trained them are in `examples/data`. For each type, the example prints
//! how many of the held-out digits it recognises, and the error of the outputs with its bound. The exit status is 0
//! only if, in all three types, at least 95 % are recognised and every output is within its bound.

mod digits;

use clap::Parser;
use digits::PIXELS;
use serde_json::{Value, json};
use std::f64::consts::TAU;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use support::{chosen_kernel, reported, significant};
use tilewise::gemm::{Accumulator, Operand};
use tilewise::io::Npy;
use tilewise::reference::{Comparison, compare, store_tolerance, sum_tolerance};
use tilewise::{Activation, DType, Element, Gemm, Gpu, Plan, Real, Result, bf16, f16, linear};

/// The files of each layer's weight (out, in) and bias, and the layer's activation.
const LAYERS: [(&str, &str, Activation); 2] =
    [("mlp_w1.npy", "mlp_b1.npy", Activation::Gelu), ("mlp_w2.npy", "mlp_b2.npy", Activation::None)];
/// The least share of the held-out digits that must be recognised.
const LEAST_ACCURACY: f64 = 0.95;

/// Recognises handwritten digits with a perceptron of two layers, and checks it against f64.
#[derive(Parser)]
struct Args {
    /// The folder of `digits.csv.gz` and the weights: by default `examples/data` of the repository
    #[arg(long, default_value_os_t = support::data(""), hide_default_value = true)]
    data: PathBuf,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    reported(run(&args), args.json, Report::json, Report::ok)
}

fn run(args: &Args) -> Result<Report> {
    let digits = Digits::held_out(&args.data.join("digits.csv.gz"))?;
    let gpu = Gpu::open()?;
    let runs = vec![
        recognise::<f32>(&gpu, &args.data, &digits)?,
        recognise::<f16>(&gpu, &args.data, &digits)?,
        recognise::<bf16>(&gpu, &args.data, &digits)?,
    ];
    Ok(Report { gpu, digits: digits.classes.len(), runs })
}

/// The held-out digits: their pixels in 0..1, and their classes.
struct Digits {
    pixels: Vec<f32>,
    classes: Vec<usize>,
}

impl Digits {
    fn held_out(path: &Path) -> Result<Self> {
        let digits = digits::held_out(path)?;
        let pixels = digits.iter().flat_map(|digit| &digit.pixels).map(|&pixel| f32::from(pixel) / 16.0);
        Ok(Self { pixels: pixels.collect(), classes: digits.iter().map(|digit| digit.class).collect() })
    }
}

/// Runs the network in one type on the device, and in f64 on the same numbers.
fn recognise<T: Operand + Real>(gpu: &Gpu, folder: &Path, digits: &Digits) -> Result<Run> {
    let mut x = gpu.tensor(&digits.pixels, [digits.classes.len(), PIXELS])?.cast::<T>()?;
    let mut defined: Vec<Known> = x.to_vec()?.into_iter().map(Known::exactly).collect();
    let mut plans = Vec::new();
    for (weight, bias, activation) in LAYERS {
        let read = |file| Npy::read(folder.join(file))?.tensor::<f32>(gpu)?.cast::<T>();
        let (weight, bias) = (read(weight)?, read(bias)?);
        // `linear` is short for this product, which can show its plan.
        plans.push(Gemm::new(&x, &weight.t()).out::<T>().bias(&bias).activation(activation).plan()?);
        x = linear(&x, &weight, Some(&bias), activation)?;
        defined = define(&defined, &weight.to_vec()?, &bias.to_vec()?, activation);
    }
    let outputs: Vec<f64> = x.to_vec()?.iter().map(|y| y.to_f64()).collect();
    let found = compare(outputs.iter().zip(&defined).map(|(y, known)| (*y, known.value, known.error)));
    let rows = outputs.chunks(x.shape()[1].max(1)).zip(&digits.classes);
    let right = rows.filter(|(row, class)| largest(row) == Some(**class)).count();
    Ok(Run { dtype: T::DTYPE, plans, right, accuracy: right as f64 / digits.classes.len() as f64, found })
}

/// The index of the largest value.
fn largest(values: &[f64]) -> Option<usize> {
    (0..values.len()).max_by(|&i, &j| values[i].total_cmp(&values[j]))
}

/// A layer $g(x W^T + b)$ in f64, with error bounds for the device's values. The inputs x are those of all digits.
///
/// With $|\hat x - x| \le e_{x}$ and a sum of k products and the bias,
/// $|\hat z - z| \le |W| e_{x} + \gamma_{k+1} (|W| (|x| + e_{x}) + |b|) + (k + 1)\,2^{-126}$.
fn define<T: Element>(x: &[Known], weight: &[T], bias: &[T], activation: Activation) -> Vec<Known> {
    let k = weight.len() / bias.len().max(1);
    let neuron = |x: &[Known], weight: &[T], bias: f64| {
        let [mut value, mut error, mut magnitude] = [bias, 0.0, bias.abs()];
        for (x, w) in x.iter().zip(weight) {
            value += x.value * w.to_f64();
            error += x.error * w.to_f64().abs();
            magnitude += (x.value.abs() + x.error) * w.to_f64().abs();
        }
        let sum = Known { value, error: error + sum_tolerance(k + 1, magnitude, Accumulator::F32) };
        if activation == Activation::Gelu { sum.gelu() } else { sum }.stored(T::DTYPE)
    };
    x.chunks(k.max(1))
        .flat_map(|x| bias.iter().enumerate().map(move |(i, b)| neuron(x, &weight[i * k..][..k], b.to_f64())))
        .collect()
}

/// A value by definition, and the error bound of the device's value.
#[derive(Clone, Copy)]
struct Known {
    value: f64,
    error: f64,
}

impl Known {
    fn exactly<T: Element>(value: T) -> Self {
        Self { value: value.to_f64(), error: 0.0 }
    }

    /// $g(z) = z \Phi(z)$, whose slope is at most 1.13: $|\hat g(\hat z) - g(z)| \le 1.13\, e_{z} + 8 u |\hat z|$.
    ///
    /// The 8 u bound the shader's evaluation of $z (1 + \mathrm{erf}(z / \sqrt 2)) / 2$ with $u = 2^{-23}$: 4 u for an
    /// erf within 8 ulp, less than u / 2 for its argument, and one u each for the sum and the product around it.
    fn gelu(self) -> Self {
        let Self { value, error } = self;
        let own = 8.0 * 2f64.powi(-23) * (value.abs() + error) + 2f64.powi(-126);
        Self { value: value * normal(value), error: 1.13 * error + own }
    }

    fn stored(self, dtype: DType) -> Self {
        let Self { value, error } = self;
        Self { value, error: error + store_tolerance(value.abs() + error, dtype) }
    }
}

/// $\Phi(z)$ by its series (Marsaglia, *Evaluating the Normal Distribution*, 2004), whose terms all have the same sign.
fn normal(z: f64) -> f64 {
    if z.abs() > 9.0 {
        return if z > 0.0 { 1.0 } else { 0.0 }; // to within 2^-62
    }
    let (mut sum, mut term) = (z, z);
    for n in 1..200 {
        term *= z * z / f64::from(2 * n + 1);
        sum += term;
    }
    0.5 + sum * (-z * z / 2.0).exp() / TAU.sqrt()
}

/// The results of all types.
struct Report {
    gpu: Gpu,
    digits: usize,
    runs: Vec<Run>,
}

/// The results of one type.
struct Run {
    dtype: DType,
    plans: Vec<Plan>,
    right: usize,
    accuracy: f64,
    found: Comparison,
}

impl Run {
    fn ok(&self) -> bool {
        self.accuracy >= LEAST_ACCURACY && self.found.ok()
    }

    fn json(&self) -> Value {
        json!({
            "dtype": self.dtype.to_string(),
            "kernels": self.plans.iter().map(chosen_kernel).collect::<Vec<_>>(),
            "plans": self.plans.iter().map(Plan::to_string).collect::<Vec<_>>(),
            "right": self.right,
            "accuracy": self.accuracy,
            "max_abs_err": self.found.max_abs_err,
            "bound_ratio": self.found.bound_ratio,
            "ok": self.ok(),
        })
    }
}

impl Report {
    fn ok(&self) -> bool {
        self.runs.iter().all(Run::ok)
    }

    fn json(&self) -> Value {
        let caps = self.gpu.caps();
        json!({
            "device": caps.adapter,
            "backend": caps.backend,
            "driver": caps.driver,
            "digits": self.digits,
            "least_accuracy": LEAST_ACCURACY,
            "runs": self.runs.iter().map(Run::json).collect::<Vec<_>>(),
            "ok": self.ok(),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (caps, digits, least) = (self.gpu.caps(), self.digits, LEAST_ACCURACY * 100.0);
        writeln!(f, "device     {}, {}, {}", caps.adapter, caps.backend, caps.driver)?;
        for Run { dtype, plans, right, accuracy, found } in &self.runs {
            let (dtype, accuracy, share) =
                (dtype.to_string(), accuracy * 100.0, significant(found.bound_ratio));
            writeln!(f, "{dtype:<11}{right} of {digits} digits right, {accuracy:.1} %")?;
            writeln!(f, "  error    at most {:.2e}, {share} of the bound", found.max_abs_err)?;
            for (layer, plan) in plans.iter().map(Plan::to_string).enumerate() {
                writeln!(f, "  layer {}  {}", layer + 1, plan.lines().next().unwrap_or_default())?;
            }
        }
        let verdict = if self.ok() { "ok" } else { "FAILED" };
        writeln!(f, "check      {verdict} (at least {least} % right, and every output within its bound)")
    }
}
