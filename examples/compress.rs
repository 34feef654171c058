//! Compresses a model file: its large linear layers become sketched ones, within one budget.
//!
//! ```sh
//! cargo run --release --example compress
//! cargo run --release --example compress -- IN.safetensors OUT.safetensors --select 'encoder.*.weight' --max-error 0.3
//! cargo run --release --example compress -- IN.safetensors OUT.safetensors --budget-flops 0.25 --json
//! ```
//! Without files it takes the weights of a feed-forward layer of a sentence encoder, in `examples/data`. If a run is
//! stopped, the next one resumes it. At the end the example reads the output back and multiplies every layer out in f64.
//! The exit status is 0 only if the errors agree with the reported ones, and the budget was met.

use clap::Parser;
use faer::Mat;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use std::fmt;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;
use support::{reported, significant};
use tilewise::io::Safetensors;
use tilewise::sketch::{Budget, Choice, Compress, Compressed, CompressedLayer, Selection, WeightOrder};
use tilewise::{Error, Gpu, Progress, Result, with_progress};

/// Largest relative difference between measured and reported errors, which come from f32 products.
const MAX_DIFFERENCE: f64 = 1e-3;
/// Allowance for rounding on top.
const ROUNDING: f64 = 2e-6;

/// Compresses a model file: its large linear layers become sketched ones, within one budget.
#[derive(Parser)]
struct Args {
    /// The `.safetensors` file; the weights of a feed-forward layer in `examples/data` by default
    #[arg(default_value_os_t = support::data("minilm_layer2_ffn.safetensors"), hide_default_value = true)]
    input: PathBuf,
    /// The file to write; `tilewise-compressed.safetensors` in the system's folder for temporary files by default
    output: Option<PathBuf>,
    /// Names of weights: `*` stands for any characters, `?` for any one. By default all weights but embeddings that can be made smaller
    #[arg(long, value_name = "PATTERN")]
    select: Vec<String>,
    /// Names of weights that are stored (in, out)
    #[arg(long, value_name = "PATTERN")]
    in_out: Vec<String>,
    /// The share of the selected layers' parameters that may be used: 0.5 unless there is another budget
    #[arg(long, value_name = "SHARE", group = "budget")]
    budget_params: Option<f64>,
    /// The share of their flops that may be used
    #[arg(long, value_name = "SHARE", group = "budget")]
    budget_flops: Option<f64>,
    /// The largest relative error that the weight of each layer may have
    #[arg(long, value_name = "ERROR", group = "budget")]
    max_error: Option<f64>,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    reported(run(&args), args.json, Report::json, Report::ok)
}

fn run(args: &Args) -> Result<Report> {
    let budget = match (args.budget_params, args.budget_flops, args.max_error) {
        (_, Some(share), _) => Budget::Flops(share),
        (_, _, Some(error)) => Budget::Error(error),
        (share, ..) => Budget::Params(share.unwrap_or(0.5)),
    };
    let temporary = || std::env::temp_dir().join("tilewise-compressed.safetensors");
    let (input, output) = (args.input.clone(), args.output.clone().unwrap_or_else(temporary));
    let gpu = Gpu::open()?;
    let start = Instant::now();
    let mut compress = Compress::new(&input).budget(budget);
    for pattern in &args.select {
        compress = compress.select(Selection::pattern(pattern));
    }
    for pattern in &args.in_out {
        compress = compress.in_out(pattern);
    }
    let compressed = with_bar(|| compress.run(&gpu, &output))??;
    let seconds = start.elapsed().as_secs_f64();
    let (dense, sketched) = (Safetensors::read(&input)?, Safetensors::read(&output)?);
    let sketches = compressed.layers.iter().filter(|layer| layer.choice == Choice::Sketched);
    let measured = sketches.map(|layer| measured(&dense, &sketched, layer)).collect::<Result<_>>()?;
    Ok(Report { input, output, device: gpu.caps().adapter.clone(), compressed, measured, seconds })
}

/// Runs `work` with a progress bar, which is shown only on a terminal.
fn with_bar<R>(work: impl FnOnce() -> R) -> Result<R> {
    let style = ProgressStyle::with_template("{bar:32} {percent:>3}% {elapsed_precise} {msg}");
    let style = style.map_err(|e| Error::Input { what: "the progress bar".into(), why: e.to_string() })?;
    let bar = ProgressBar::no_length().with_style(style);
    let shown = bar.clone();
    let show = move |progress: Progress<'_>| {
        shown.set_length(progress.total);
        shown.set_position(progress.done);
        shown.set_message(progress.what.to_owned());
        ControlFlow::Continue(())
    };
    let result = with_progress(show, work);
    bar.finish_and_clear();
    Ok(result)
}

/// The relative error of a layer, multiplied out in f64.
fn measured(dense: &Safetensors, sketched: &Safetensors, layer: &CompressedLayer) -> Result<f64> {
    let read = |file: &Safetensors, name: &str| -> Result<Mat<f64>> {
        let (shape, values) = (file.shape(name)?, file.values(name)?);
        // The first axis of a sketched layer counts its terms, and is 1.
        let cols = shape.last().copied().unwrap_or(1).max(1);
        Ok(Mat::from_fn(values.len() / cols, cols, |i, j| values[i * cols + j]))
    };
    let prefix = match layer.name.strip_suffix("weight") {
        Some(prefix) if prefix.is_empty() || prefix.ends_with('.') => prefix.to_owned(),
        _ => format!("{}.", layer.name),
    };
    let part = |name: &str| read(sketched, &format!("{prefix}{name}"));
    let product = part("S1s")? * part("U1s")? + part("U2s")? * part("S2s")?;
    let stored = read(dense, &layer.name)?;
    let weight = if layer.order == WeightOrder::InOut { stored.transpose().to_owned() } else { stored };
    let rest = Mat::from_fn(weight.nrows(), weight.ncols(), |i, j| weight[(i, j)] - product[(j, i)] / 2.0);
    Ok(rest.norm_l2() / weight.norm_l2().max(f64::MIN_POSITIVE))
}

/// Result of the compression.
struct Report {
    input: PathBuf,
    output: PathBuf,
    device: String,
    compressed: Compressed,
    /// Errors of the sketched layers, measured from the files.
    measured: Vec<f64>,
    seconds: f64,
}

impl Report {
    /// The sketched layers, with their measured errors.
    fn sketched(&self) -> impl Iterator<Item = (&CompressedLayer, f64)> {
        let layers = self.compressed.layers.iter().filter(|layer| layer.choice == Choice::Sketched);
        layers.zip(self.measured.iter().copied())
    }

    fn ok(&self) -> bool {
        let compressed = &self.compressed;
        let within_budget = match compressed.budget {
            Budget::Params(share) | Budget::Flops(share) => {
                self.measured.is_empty()
                    || compressed.params as f64 <= share * compressed.dense_params as f64 + 0.5
            }
            Budget::Error(error) => {
                self.sketched().all(|(_, measured)| measured <= error * (1.0 + MAX_DIFFERENCE))
            }
            _ => false,
        };
        let as_reported = |(layer, measured): (&CompressedLayer, f64)| {
            (layer.rel_error - measured).abs() <= MAX_DIFFERENCE * measured + ROUNDING
        };
        within_budget && self.sketched().all(as_reported)
    }

    fn json(&self) -> Value {
        let mut measured = self.measured.iter();
        let layers = self.compressed.layers.iter().map(|layer| {
            let (why, measured) = match &layer.choice {
                Choice::Dense { why } => (Some(why), None),
                _ => (None, measured.next()),
            };
            json!({
                "name": layer.name,
                "shape": layer.shape,
                "dtype": layer.dtype.to_string(),
                "terms": layer.terms,
                "rank": layer.rank,
                "params": layer.params,
                "dense_params": layer.dense_params,
                "rel_error": layer.rel_error,
                "measured_rel_error": measured,
                "dense": why,
            })
        });
        let layers: Vec<Value> = layers.collect();
        json!({
            "input": self.input.display().to_string(),
            "output": self.output.display().to_string(),
            "device": self.device,
            "budget": self.compressed.budget.to_string(),
            "layers": layers,
            "params": self.compressed.params,
            "dense_params": self.compressed.dense_params,
            "bytes": self.compressed.bytes,
            "dense_bytes": self.compressed.dense_bytes,
            "reused": self.compressed.reused,
            "seconds": self.seconds,
            "ok": self.ok(),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let difference =
            self.sketched().map(|(layer, measured)| (layer.rel_error - measured).abs()).fold(0.0, f64::max);
        write!(
            f,
            "device     {}\ninput      {}\noutput     {}\n{}\ntime       {:.1} s\n\
             measured   errors in f64 differ from those above by at most {}\ncheck      {}\n",
            self.device,
            self.input.display(),
            self.output.display(),
            self.compressed,
            self.seconds,
            significant(difference),
            if self.ok() { "ok" } else { "FAILED" }
        )
    }
}
