//! Times a Clifford layer's product next to a copy in the same run, and compares it with its definition in f64.
//!
//! ```sh
//! cargo run --release --example clifford_layer -- --layer 3,0,0 --batch 4096 --features 64
//! cargo run --release --example clifford_layer -- --layer 1,3,0 --norm invariant --backward
//! cargo run --release --example clifford_layer -- --layer 3,0,0 --batch 512 --features 128 --fc --dtype f16 --json
//! ```
//! In a large batch only the last rows are checked, since their results and gradients do not depend on other rows; the
//! gradient of the weights is computed again for these rows alone. The exit status is 0 only if everything is within the
//! tolerance, relative to the largest value of each tensor. In f32 it is 2e-6, and 5e-6 for a fully connected product. In
//! f16, or if `TILEWISE_PRECISION=fast` rounds to f16, it is 1e-3 and 2e-3. With a norm and at most three features, the
//! bound of each value (`reference::LayerProductReference::bounded`) is added.

mod check;
mod layer;
mod report;

use bench::peak::Copier;
use clap::{Parser, ValueEnum};
use layer::{Layer, Operands};
use report::{Measured, Report};
use std::process::ExitCode;
use support::reported;
use tilewise::clifford::Signature;
use tilewise::clifford::layer::{GradeNorm, LayerProduct, ProductKind};
use tilewise::{Error, Gpu, Real, Result, f16};

/// Number of timed runs, of which the median is reported.
const RUNS: usize = 9;

/// Times a Clifford layer's product next to a copy in the same run, and compares it with its definition in f64.
#[derive(Parser)]
struct Args {
    /// The algebra's signature: the numbers of vectors that square to 1, to -1 and to 0
    #[arg(long, default_value = "3,0,0", value_name = "P,Q,R", allow_hyphen_values = true)]
    layer: Signature,
    /// Number of rows
    #[arg(long, default_value_t = 1024)]
    batch: usize,
    /// Number of features in and out
    #[arg(long, default_value_t = 64)]
    features: usize,
    /// Runs the fully connected product instead of the steerable one
    #[arg(long)]
    fc: bool,
    /// Omits the norm
    #[arg(long, conflicts_with = "norm")]
    no_norm: bool,
    /// The norm of grades; indefinite and degenerate metrics need the invariant one
    #[arg(long, value_enum, default_value_t = Norm::Rms)]
    norm: Norm,
    /// Runs the backward pass instead of the product
    #[arg(long)]
    backward: bool,
    /// The type of the operands
    #[arg(long, value_enum, default_value_t = Dtype::F32)]
    dtype: Dtype,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Norm {
    Rms,
    Invariant,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Dtype {
    F32,
    F16,
}

/// What is timed: the product (forward), or its gradients (backward).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let report = match args.dtype {
        Dtype::F32 => run::<f32>(&args),
        Dtype::F16 => run::<f16>(&args),
    };
    reported(report, args.json, Report::json, Report::ok)
}

fn run<T: Real>(args: &Args) -> Result<Report> {
    for (what, size) in [("--batch", args.batch), ("--features", args.features)] {
        if size == 0 {
            return Err(Error::Input { what: what.into(), why: "must be at least 1; got 0".into() });
        }
    }
    let norm = match args.norm {
        _ if args.no_norm => GradeNorm::None,
        Norm::Rms => GradeNorm::Rms,
        Norm::Invariant => GradeNorm::Invariant,
    };
    let direction = if args.backward { Direction::Backward } else { Direction::Forward };
    let layer = Layer {
        product: LayerProduct::new(args.layer).norm(norm),
        kind: if args.fc { ProductKind::Connected } else { ProductKind::Steerable },
    };
    let gpu = Gpu::open()?;
    let operands = Operands::<T>::random(&gpu, layer, [args.batch, args.features])?;
    let measured = measure(&gpu, layer, &operands, direction)?;
    let check = check::check(layer, &operands, direction)?;
    Ok(Report {
        device: gpu.caps().adapter.clone(),
        layer,
        size: [args.batch, args.features],
        dtype: T::DTYPE,
        direction,
        check,
        measured,
        plan: layer.plan(&operands, direction)?,
    })
}

/// Median seconds of the layer and of a copy of as many bytes, measured in alternation; and the counters of one run.
fn measure<T: Real>(
    gpu: &Gpu,
    layer: Layer,
    operands: &Operands<T>,
    direction: Direction,
) -> Result<Measured> {
    layer.run(operands, direction)?; // compiles
    let before = gpu.stats();
    layer.run(operands, direction)?;
    let after = gpu.stats();
    let launches = after.launches - before.launches;
    let bytes = after.bytes_bound_for_reading - before.bytes_bound_for_reading
        + after.bytes_bound_for_writing
        - before.bytes_bound_for_writing;
    let copier = Copier::new(gpu, (bytes / 2).next_multiple_of(1024));
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..RUNS {
        times[0].push(gpu.time(|| layer.run(operands, direction))?.1.seconds);
        times[1].push(copier.seconds(gpu));
    }
    let [seconds, copy_seconds] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[RUNS / 2]
    });
    let operand = (operands.x.tensor().len() * size_of::<T>()) as f64;
    Ok(Measured { launches, bytes, passes: bytes as f64 / operand, seconds, copy_seconds })
}
