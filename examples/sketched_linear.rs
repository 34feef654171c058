//! Puts a sketched layer in the place of a dense one, and holds both against f64.
//!
//! ```sh
//! cargo run --release --example sketched_linear
//! cargo run --release --example sketched_linear -- --rank 32 --init panther --train 60
//! cargo run --release --example sketched_linear -- --max-error 0.5 --dtype f16 --svg errors.svg --json
//! ```
//! Without a file it takes the weight of a feed-forward layer of a sentence encoder, in `examples/data`. It prints what
//! the layer saves, how far its weight and its outputs are from the dense ones', and the time of both. The exit status
//! is 0 only if outputs are those of the layer's factors in f64, a fit is within 1.02 of the best weight of its rank, and
//! training has made the loss no larger.

mod support;

use clap::{Parser, ValueEnum};
use faer::Mat;
use serde_json::{Value, json};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use support::chart::{Chart, Curve, Mark, Scale};
use support::{ended, significant};
use tilewise::io::Safetensors;
use tilewise::reference::store_tolerance;
use tilewise::sketch::{Advice, Budget, Choice, SkLinear, Sketched};
use tilewise::{DType, Element, Error, Fill, Gemm, Gpu, Plan, Real, Result, Tensor, bf16, f16, matmul, ops};

/// What a fit's error may be over the least possible, and what rounding may add.
const OVER_LEAST: f64 = 1.02;
/// Rows of the activations unless said otherwise, and of those that a layer is trained on.
const BATCH: usize = 64;
/// Runs of which the median is taken.
const RUNS: usize = 9;

/// Puts a sketched layer in the place of a dense one, and holds both against f64.
#[derive(Parser)]
struct Args {
    /// A `.safetensors` file: the weights of a feed-forward layer in `examples/data` unless said otherwise
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/minilm_layer2_ffn.safetensors"), hide_default_value = true)]
    weights: PathBuf,
    /// The tensor of that file: a weight (out, in)
    #[arg(long, default_value = "intermediate.dense.weight")]
    tensor: String,
    /// How many terms
    #[arg(long, requires = "rank")]
    terms: Option<usize>,
    /// The rank of each
    #[arg(long, conflicts_with_all = ["budget_params", "max_error"])]
    rank: Option<usize>,
    /// The largest rank with at most this share of the dense layer's numbers: 0.5, if nothing else is said
    #[arg(long, conflicts_with = "max_error")]
    budget_params: Option<f64>,
    /// The least rank whose fit is off by at most this share of the weight
    #[arg(long)]
    max_error: Option<f64>,
    /// Rows of the activations
    #[arg(long, default_value_t = BATCH)]
    batch: usize,
    /// How the layer is built from the weight
    #[arg(long, value_enum, default_value_t = Init::Fit)]
    init: Init,
    /// So many steps of gradient descent, on random activations, towards the outputs of the dense layer
    #[arg(long, default_value_t = 0)]
    train: usize,
    /// The type of weights and activations
    #[arg(long, value_enum, default_value_t = Type::F32)]
    dtype: Type,
    /// The seed of all that is random
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Draws errors over parameters into this file
    #[arg(long)]
    svg: Option<PathBuf>,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

/// How a layer is built.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Init {
    Panther,
    LeastSquares,
    Fit,
}

#[derive(Clone, Copy, ValueEnum)]
enum Type {
    F32,
    F16,
}

fn main() -> ExitCode {
    let args = Args::parse();
    ended(run(&args).map(|report| {
        if args.json {
            println!("{}", report.json());
        } else {
            print!("{report}");
        }
        report.ok()
    }))
}

fn run(args: &Args) -> Result<Report> {
    let gpu = Gpu::open()?;
    let weight = weight(args, &gpu)?;
    let report = match args.dtype {
        Type::F32 => sketch(args, &weight)?,
        Type::F16 => sketch(args, &weight.cast::<f16>()?)?,
    };
    if let Some(path) = &args.svg {
        let picture = picture(args, &weight, &report)?;
        std::fs::write(path, picture).map_err(|e| refuse(path, format!("cannot be written: {e}")))?;
    }
    Ok(report)
}

fn refuse(path: &Path, why: String) -> Error {
    Error::Input { what: path.display().to_string(), why }
}

/// The weight in f32, whatever it is stored in.
fn weight(args: &Args, gpu: &Gpu) -> Result<Tensor<f32>> {
    let (file, name) = (Safetensors::read(&args.weights)?, &args.tensor);
    match file.dtype(name)? {
        Some(DType::F32) => file.tensor::<f32>(gpu, name),
        Some(DType::F16) => file.tensor::<f16>(gpu, name)?.cast(),
        Some(DType::Bf16) => file.tensor::<bf16>(gpu, name)?.cast(),
        _ => Err(refuse(&args.weights, format!("`{name}` is of another type than f32, f16 and bf16"))),
    }
}

/// Terms and rank: those that are asked for, or the advice.
fn sizes<T: Real>(args: &Args, weight: &Tensor<T>) -> Result<(usize, usize, Option<Advice>)> {
    if let Some(rank) = args.rank {
        return Ok((args.terms.unwrap_or(1), rank, None));
    }
    let budget = match (args.max_error, args.budget_params) {
        (Some(error), _) => Budget::Error(error),
        (None, share) => Budget::Params(share.unwrap_or(0.5)),
    };
    let advice = SkLinear::advise(weight, budget)?;
    if let Choice::Dense { why } = &advice.choice {
        return Err(refuse(&args.weights, format!("`{}` is better left dense: {why}", args.tensor)));
    }
    Ok((advice.terms, advice.rank, Some(advice)))
}

fn build<T: Real>(args: &Args, weight: &Tensor<T>, terms: usize, rank: usize, init: Init) -> Result<Sketched<T>> {
    let builder = SkLinear::builder(terms, rank).seed(args.seed);
    match init {
        Init::Panther => builder.panther(weight),
        Init::LeastSquares => builder.least_squares(weight),
        Init::Fit => builder.fit(weight),
    }
}

/// Builds a layer, trains it if that is asked for, and looks at what it does.
fn sketch<T: Real>(args: &Args, weight: &Tensor<T>) -> Result<Report> {
    let gpu = weight.gpu();
    let (terms, rank, advice) = sizes(args, weight)?;
    let built = build(args, weight, terms, rank, args.init)?;
    let (layer, losses) = train(args, built.layer, weight)?;
    let x = gpu.random::<T>([args.batch, layer.inputs()], Fill::Uniform, args.seed.wrapping_add(1))?;
    let (w, x64) = (read(weight)?, read(&x)?);
    let y = read(&layer.forward_as::<f32>(&x)?)?;
    let (bound_ratio, own) = against_f64(&layer, &x64, &y)?;
    let dense = &x64 * w.transpose();
    let stands_for = read(&layer.to_weight()?)?;
    let norm = |of: &Mat<f64>| of.norm_l2().max(f64::MIN_POSITIVE);
    let exact = w.singular_values().map_err(|e| Error::Input {
        what: args.tensor.clone(),
        why: format!("its exact decomposition was not found: {e:?}"),
    })?;
    let tail: f64 = exact.iter().skip(2 * terms * rank).map(|s| s * s).sum();
    let [dense_seconds, sketched_seconds] = seconds(&layer, weight, &x)?;
    Ok(Report {
        name: args.tensor.clone(),
        device: gpu.caps().adapter.clone(),
        dtype: T::DTYPE,
        features: [layer.inputs(), layer.outputs()],
        terms,
        rank,
        init: args.init,
        advice,
        batch: args.batch,
        params: layer.params(),
        dense_params: layer.dense_params(),
        bytes: layer.params() * T::DTYPE.size(),
        weight_rel_error: (&stands_for - &w).norm_l2() / norm(&w),
        output_rel_error: (own - &dense).norm_l2() / norm(&dense),
        optimal_weight_rel_error: tail.sqrt() / norm(&w),
        dense_seconds,
        sketched_seconds,
        plans: if x.is_empty() { Vec::new() } else { layer.plans(&x)?.to_vec() },
        losses,
        bound_ratio,
    })
}

/// The largest error of the outputs over its bound, by the layer's factors in f64; and the outputs themselves.
fn against_f64<T: Real>(layer: &SkLinear<T>, x: &Mat<f64>, y: &Mat<f64>) -> Result<(f64, Mat<f64>)> {
    let abs = |m: &Mat<f64>| Mat::from_fn(m.nrows(), m.ncols(), |i, j| m[(i, j)].abs());
    let [s1, u2] = [read(&layer.s1()?)?, read(&layer.u2()?)?];
    let [u1, s2] = [read(&layer.u1()?)?, read(&layer.s2()?)?];
    let through = |x: &Mat<f64>, [s1, u1, s2, u2]: [&Mat<f64>; 4]| {
        let scale = 0.5 / layer.terms() as f64;
        let sum = x * s1 * u1 + x * u2 * s2;
        Mat::from_fn(sum.nrows(), sum.ncols(), |i, j| sum[(i, j)] * scale)
    };
    let own = through(x, [&s1, &u1, &s2, &u2]);
    let magnitude = through(&abs(x), [&abs(&s1), &abs(&u1), &abs(&s2), &abs(&u2)]);
    // Both sums, what lies between them in T, and the frozen signs over the root of the rank.
    let inner = layer.inputs() + 2 * layer.terms() * layer.rank();
    let share = tilewise::reference::gamma(inner + 2) + 2.0 * store_tolerance(1.0, T::DTYPE);
    let mut worst = 0.0f64;
    for j in 0..own.ncols() {
        for i in 0..own.nrows() {
            let bound = share * magnitude[(i, j)] + f64::from(f32::MIN_POSITIVE);
            worst = worst.max((y[(i, j)] - own[(i, j)]).abs() / bound);
        }
    }
    Ok((worst, own))
}

/// Gradient descent on $\|x (W' - W)^T\|^2$ over random activations: the layer, and the loss before each step, relative to
/// what a layer of zeros has.
fn train<T: Real>(args: &Args, layer: SkLinear<T>, weight: &Tensor<T>) -> Result<(SkLinear<T>, Vec<f64>)> {
    if args.train == 0 {
        return Ok((layer, Vec::new()));
    }
    let gpu = weight.gpu();
    let mut master = layer.cast::<f32>()?;
    let weight = weight.cast::<f32>()?.t();
    let spectral = |u: &Tensor<f32>| -> Result<f64> {
        let s = read(u)?.singular_values();
        Ok(s.ok().and_then(|s| s.first().copied()).unwrap_or(1.0))
    };
    // The steepest that descent bears: activations have a variance of 1/3, and a step moves both halves.
    let curvature = spectral(&master.u1()?)?.powi(2) + spectral(&master.u2()?)?.powi(2);
    let rate = 6.0 * (master.terms() as f64).powi(2) / curvature;
    let mut losses = Vec::new();
    for step in 0..args.train {
        let seed = args.seed.wrapping_add(1000 + step as u64);
        let x = gpu.random::<f32>([4 * BATCH.max(args.batch), master.inputs()], Fill::Uniform, seed)?;
        let target = matmul(&x, &weight)?;
        let working = master.cast::<T>()?;
        let (x, rows) = (x.cast::<T>()?, x.shape()[0] as f64);
        let hidden = working.hidden(&x)?;
        let off = ops::sub(&working.output::<f32>(&hidden)?, &target)?;
        let square = |x: &Tensor<f32>| -> Result<f64> {
            Ok(ops::sum_squares(x, 0)?.to_vec()?.into_iter().map(f64::from).sum())
        };
        losses.push(square(&off)? / square(&target)?.max(f64::MIN_POSITIVE));
        let (_, gradients) = working.backward(&x, &hidden, &off.cast()?)?;
        master.descend(&gradients, f32::from_f64(rate / rows))?;
    }
    Ok((master.cast()?, losses))
}

/// Medians of the dense product's seconds and the layer's, in turns.
fn seconds<T: Real>(layer: &SkLinear<T>, weight: &Tensor<T>, x: &Tensor<T>) -> Result<[f64; 2]> {
    let (gpu, weight) = (x.gpu(), weight.t());
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..=RUNS {
        times[0].push(gpu.time(|| Gemm::new(x, &weight).out::<T>().run().map(drop))?.1.seconds);
        times[1].push(gpu.time(|| layer.forward(x).map(drop))?.1.seconds);
    }
    // The first compiles.
    Ok(times.map(|mut times| {
        times.remove(0);
        times.sort_by(f64::total_cmp);
        times[RUNS / 2]
    }))
}

/// Errors over parameters: of the three ways to build a layer, and the least possible.
fn picture(args: &Args, weight: &Tensor<f32>, report: &Report) -> Result<String> {
    let [inputs, outputs] = report.features;
    let exact = read(weight)?.singular_values().unwrap_or_default();
    let total: f64 = exact.iter().map(|s| s * s).sum();
    // Up to the last that saves something.
    let last = (inputs * outputs - 1) / (2 * (inputs + outputs));
    let mut ranks: Vec<usize> = (1..=8).map(|i| (last * i / 8).max(1)).collect();
    ranks.dedup();
    let params = |rank: usize| (2 * rank * (inputs + outputs)) as f64;
    let mut curves = Vec::new();
    for (init, name, color) in [
        (Init::Panther, "copied, as Panther does", "#c33"),
        (Init::LeastSquares, "least squares, given random U", "#37a"),
        (Init::Fit, "fit", "#292"),
    ] {
        let point = |&rank: &usize| -> Result<[f64; 2]> {
            Ok([params(rank), build(args, weight, 1, rank, init)?.weight_rel_error])
        };
        let points = ranks.iter().map(point).collect::<Result<Vec<_>>>()?;
        curves.push(Curve { name: name.into(), color, mark: Mark::Both, points });
    }
    let left = |rank: usize| (exact.iter().skip(2 * rank).map(|s| s * s).sum::<f64>() / total).sqrt();
    let points = (1..=last).map(|rank| [params(rank), left(rank)]).collect();
    curves.push(Curve { name: "the least possible".into(), color: "#888", mark: Mark::Line, points });
    let chart = Chart {
        title: format!("Sketched layers for {} ({outputs} x {inputs})", report.name),
        subtitle: format!("relative error of the weight; the dense layer has {} parameters", report.dense_params),
        labels: ["parameters".into(), "relative error".into()],
        scales: [Scale::Linear, Scale::Logarithmic],
        curves,
    };
    Ok(chart.svg())
}

/// A matrix in f64.
fn read<T: Element>(tensor: &Tensor<T>) -> Result<Mat<f64>> {
    let (values, cols) = (tensor.to_vec()?, tensor.shape()[1]);
    Ok(Mat::from_fn(tensor.shape()[0], cols, |i, j| values[i * cols + j].to_f64()))
}

/// What came out.
struct Report {
    name: String,
    device: String,
    dtype: DType,
    features: [usize; 2],
    terms: usize,
    rank: usize,
    init: Init,
    advice: Option<Advice>,
    batch: usize,
    params: usize,
    dense_params: usize,
    bytes: usize,
    weight_rel_error: f64,
    output_rel_error: f64,
    optimal_weight_rel_error: f64,
    dense_seconds: f64,
    sketched_seconds: f64,
    plans: Vec<Plan>,
    losses: Vec<f64>,
    bound_ratio: f64,
}

impl Report {
    fn ok(&self) -> bool {
        // Of a fit that nothing has moved.
        let fitted = self.init == Init::Fit && self.losses.is_empty();
        let rounding = store_tolerance(1.0, self.dtype) + 1e-6;
        let near = !fitted || self.weight_rel_error <= OVER_LEAST * self.optimal_weight_rel_error + rounding;
        let learnt = match &self.losses[..] {
            [first, .., last] => *last <= 1.01 * first,
            _ => true,
        };
        near && learnt && self.bound_ratio <= 1.0
    }

    /// Floating-point operations of the layer.
    fn flops(&self) -> usize {
        2 * self.batch * self.params
    }

    fn speedup(&self) -> f64 {
        if self.sketched_seconds > 0.0 { self.dense_seconds / self.sketched_seconds } else { 0.0 }
    }

    fn json(&self) -> Value {
        json!({
            "tensor": self.name,
            "device": self.device,
            "dtype": self.dtype.to_string(),
            "inputs": self.features[0],
            "outputs": self.features[1],
            "batch": self.batch,
            "terms": self.terms,
            "rank": self.rank,
            "params": self.params,
            "dense_params": self.dense_params,
            "flops": self.flops(),
            "bytes": self.bytes,
            "weight_rel_error": self.weight_rel_error,
            "output_rel_error": self.output_rel_error,
            "optimal_weight_rel_error": self.optimal_weight_rel_error,
            "dense_seconds": self.dense_seconds,
            "sketched_seconds": self.sketched_seconds,
            "speedup": self.speedup(),
            "plans": self.plans.iter().map(Plan::to_string).collect::<Vec<_>>(),
            "losses": self.losses,
            "bound_ratio": self.bound_ratio,
            "ok": self.ok(),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [inputs, outputs] = self.features;
        writeln!(f, "device     {}", self.device)?;
        writeln!(f, "weight     {}, {outputs} x {inputs}, {}", self.name, self.dtype)?;
        if let Some(advice) = &self.advice {
            writeln!(f, "advice     {}", advice.to_string().trim_end().replace('\n', "\n           "))?;
        }
        let share = 100.0 * self.params as f64 / self.dense_params as f64;
        writeln!(f, "layer      {} terms of rank {}: {} numbers, {share:.1} % of {}", self.terms, self.rank, self.params, self.dense_params)?;
        let [weight, least, output] =
            [self.weight_rel_error, self.optimal_weight_rel_error, self.output_rel_error].map(significant);
        writeln!(f, "weight     off by {weight} of its norm, the least possible {least}")?;
        writeln!(f, "outputs    off by {output} of theirs, for {} rows of random activations", self.batch)?;
        for (step, loss) in self.losses.iter().enumerate() {
            let last = step + 1 == self.losses.len();
            if last || step % self.losses.len().div_ceil(8) == 0 {
                writeln!(f, "  step {step:>5}  loss {}", significant(*loss))?;
            }
        }
        let [dense, own] = [self.dense_seconds, self.sketched_seconds].map(|seconds| significant(seconds * 1e3));
        writeln!(f, "time       {own} ms, dense {dense} ms: {} times as fast", significant(self.speedup()))?;
        for plan in self.plans.iter().map(Plan::to_string) {
            writeln!(f, "  {}", plan.lines().next().unwrap_or_default())?;
        }
        let verdict = if self.ok() { "ok" } else { "FAILED" };
        writeln!(f, "check      {verdict} (outputs at {} of their bound, against f64)", significant(self.bound_ratio))
    }
}
