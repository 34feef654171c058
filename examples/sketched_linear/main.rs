//! Replaces a dense layer by a sketched one, and compares both with f64.
//!
//! ```sh
//! cargo run --release --example sketched_linear
//! cargo run --release --example sketched_linear -- --rank 32 --init panther --train 60
//! cargo run --release --example sketched_linear -- --max-error 0.5 --dtype f16 --svg errors.svg --json
//! ```
//! Without a file it takes the weight of a feed-forward layer of a sentence encoder, in `examples/data`. It prints the
//! size of the layer, the relative errors of its weight and its outputs, and the time of both layers. The exit status is
//! 0 only if the outputs agree with those of the layer's factors in f64, a fit is within 1.02 of the best weight of its
//! rank, and training has not increased the loss.

mod report;
mod training;

use clap::{Parser, ValueEnum};
use faer::Mat;
use pictures::chart::{Chart, Curve, Mark, Scale};
use plotters::style::RGBColor;
use report::Report;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use support::reported;
use tilewise::io::Safetensors;
use tilewise::reference::store_tolerance;
use tilewise::sketch::{Budget, Choice, FittedLayer, RankRecommendation, SkLinear};
use tilewise::{DType, Element, Error, Fill, Gemm, Gpu, Real, Result, Tensor, bf16, f16};
use training::train;

/// Default number of rows of the activations; training uses at least four times as many.
const BATCH: usize = 64;
/// Number of timed runs, of which the median is reported.
const RUNS: usize = 9;

/// Replaces a dense layer by a sketched one, and compares both with f64.
#[derive(Parser)]
struct Args {
    /// A `.safetensors` file; the weights of a feed-forward layer in `examples/data` by default
    #[arg(long, default_value_os_t = support::data("minilm_layer2_ffn.safetensors"), hide_default_value = true)]
    weights: PathBuf,
    /// The tensor of that file: a weight stored (out, in)
    #[arg(long, default_value = "intermediate.dense.weight")]
    tensor: String,
    /// The number of terms
    #[arg(long, requires = "rank")]
    terms: Option<usize>,
    /// The rank of each term
    #[arg(long, conflicts_with_all = ["budget_params", "max_error"])]
    rank: Option<usize>,
    /// The largest rank with at most this share of the dense layer's parameters; 0.5 by default
    #[arg(long, conflicts_with = "max_error")]
    budget_params: Option<f64>,
    /// The least rank whose fit has at most this relative error
    #[arg(long)]
    max_error: Option<f64>,
    /// Rows of the activations
    #[arg(long, default_value_t = BATCH)]
    batch: usize,
    /// How the layer is built from the weight
    #[arg(long, value_enum, default_value_t = Init::Fit)]
    init: Init,
    /// Steps of gradient descent towards the outputs of the dense layer, on random activations
    #[arg(long, default_value_t = 0)]
    train: usize,
    /// The type of weights and activations
    #[arg(long, value_enum, default_value_t = Type::F32)]
    dtype: Type,
    /// The seed of all random numbers
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
    reported(run(&args), args.json, Report::json, Report::ok)
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

/// The weight in f32, whatever its type in the file.
fn weight(args: &Args, gpu: &Gpu) -> Result<Tensor<f32>> {
    let (file, name) = (Safetensors::read(&args.weights)?, &args.tensor);
    match file.dtype(name)? {
        Some(DType::F32) => file.tensor::<f32>(gpu, name),
        Some(DType::F16) => file.tensor::<f16>(gpu, name)?.cast(),
        Some(DType::Bf16) => file.tensor::<bf16>(gpu, name)?.cast(),
        _ => Err(refuse(&args.weights, format!("`{name}` must be a tensor of f32, f16 or bf16"))),
    }
}

/// Terms and rank: those of the command line, or else the advice.
fn sizes<T: Real>(args: &Args, weight: &Tensor<T>) -> Result<(usize, usize, Option<RankRecommendation>)> {
    if let Some(rank) = args.rank {
        return Ok((args.terms.unwrap_or(1), rank, None));
    }
    let budget = match (args.max_error, args.budget_params) {
        (Some(error), _) => Budget::Error(error),
        (None, share) => Budget::Params(share.unwrap_or(0.5)),
    };
    let advice = SkLinear::recommend_rank(weight, budget)?;
    if let Choice::Dense { why } = &advice.choice {
        return Err(refuse(&args.weights, format!("`{}` should stay dense: {why}", args.tensor)));
    }
    Ok((advice.terms, advice.rank, Some(advice)))
}

fn build<T: Real>(
    args: &Args,
    weight: &Tensor<T>,
    terms: usize,
    rank: usize,
    init: Init,
) -> Result<FittedLayer<T>> {
    let builder = SkLinear::builder(terms, rank).seed(args.seed);
    match init {
        Init::Panther => builder.panther(weight),
        Init::LeastSquares => builder.least_squares(weight),
        Init::Fit => builder.fit(weight),
    }
}

/// Builds a layer, trains it if requested, and measures it.
fn sketch<T: Real>(args: &Args, weight: &Tensor<T>) -> Result<Report> {
    let gpu = weight.gpu();
    let (terms, rank, advice) = sizes(args, weight)?;
    let built = build(args, weight, terms, rank, args.init)?;
    let (layer, losses) = train(args, built.layer, weight)?;
    let x = gpu.random::<T>([args.batch, layer.inputs()], Fill::Uniform, args.seed.wrapping_add(1))?;
    let (w, x64) = (read(weight)?, read(&x)?);
    let y = read(&layer.apply(&x).output::<f32>().run()?)?;
    let (bound_ratio, own) = against_f64(&layer, &x64, &y)?;
    let dense = &x64 * w.transpose();
    let sketched_weight = read(&layer.to_weight()?)?;
    let norm = |of: &Mat<f64>| of.norm_l2().max(f64::MIN_POSITIVE);
    let exact = w.singular_values().map_err(|e| Error::Input {
        what: args.tensor.clone(),
        why: format!("computing its exact decomposition failed: {e:?}"),
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
        weight_rel_error: (&sketched_weight - &w).norm_l2() / norm(&w),
        output_rel_error: (own - &dense).norm_l2() / norm(&dense),
        optimal_weight_rel_error: tail.sqrt() / norm(&w),
        dense_seconds,
        sketched_seconds,
        plans: if x.is_empty() { Vec::new() } else { layer.plans(&x)?.to_vec() },
        losses,
        bound_ratio,
    })
}

/// The largest error of an output over its bound, against the layer's factors in f64; and the outputs in f64.
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
    // The roundings of both sums, of the intermediate result in T, and of the signs' scale.
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

/// Median seconds of the dense product and of the layer, measured in alternation.
fn seconds<T: Real>(layer: &SkLinear<T>, weight: &Tensor<T>, x: &Tensor<T>) -> Result<[f64; 2]> {
    if x.is_empty() {
        return Ok([0.0; 2]);
    }
    let (gpu, weight) = (x.gpu(), weight.t());
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..=RUNS {
        times[0].push(gpu.time(|| Gemm::new(x, &weight).out::<T>().run().map(drop))?.1.seconds);
        times[1].push(gpu.time(|| layer.forward(x).map(drop))?.1.seconds);
    }
    // The first run compiles.
    Ok(times.map(|mut times| {
        times.remove(0);
        times.sort_by(f64::total_cmp);
        times[RUNS / 2]
    }))
}

/// Errors over parameters: of three methods to build a layer, and the least possible.
fn picture(args: &Args, weight: &Tensor<f32>, report: &Report) -> Result<String> {
    let [inputs, outputs] = report.features;
    let exact = read(weight)?.singular_values().unwrap_or_default();
    let total: f64 = exact.iter().map(|s| s * s).sum();
    // Up to the largest rank that saves parameters.
    let last = (inputs * outputs - 1) / (2 * (inputs + outputs));
    let mut ranks: Vec<usize> = (1..=8).map(|i| (last * i / 8).max(1)).collect();
    ranks.dedup();
    let params = |rank: usize| (2 * rank * (inputs + outputs)) as f64;
    let mut curves = Vec::new();
    for (init, name, color) in [
        (Init::Panther, "copied, as Panther does", RGBColor(0xcc, 0x33, 0x33)),
        (Init::LeastSquares, "least squares, given random U", RGBColor(0x33, 0x77, 0xaa)),
        (Init::Fit, "fit", RGBColor(0x22, 0x99, 0x22)),
    ] {
        let point = |&rank: &usize| -> Result<[f64; 2]> {
            Ok([params(rank), build(args, weight, 1, rank, init)?.weight_rel_error])
        };
        let points = ranks.iter().map(point).collect::<Result<Vec<_>>>()?;
        curves.push(Curve { name: name.into(), color, mark: Mark::Both, points });
    }
    let left = |rank: usize| (exact.iter().skip(2 * rank).map(|s| s * s).sum::<f64>() / total).sqrt();
    let points = (1..=last).map(|rank| [params(rank), left(rank)]).collect();
    curves.push(Curve {
        name: "the least possible".into(),
        color: RGBColor(0x88, 0x88, 0x88),
        mark: Mark::Line,
        points,
    });
    let chart = Chart {
        title: format!("Sketched layers for {} ({outputs} x {inputs})", report.name),
        subtitle: format!(
            "relative error of the weight; the dense layer has {} parameters",
            report.dense_params
        ),
        labels: ["parameters".into(), "relative error".into()],
        scales: [Scale::Linear, Scale::Logarithmic],
        curves,
    };
    chart.svg()
}

/// A matrix in f64.
fn read<T: Element>(tensor: &Tensor<T>) -> Result<Mat<f64>> {
    let (values, cols) = (tensor.to_vec()?, tensor.shape()[1]);
    Ok(Mat::from_fn(tensor.shape()[0], cols, |i, j| values[i * cols + j].to_f64()))
}
