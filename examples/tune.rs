//! Tunes a list of operations on this machine's device, so that later runs take the plans that were the fastest.
//!
//! ```sh
//! cargo run --release --example tune -- --ops gemm,attention --sizes 256,512,64x4096x1024 --dtypes f32,f16
//! cargo run --release --example tune -- --machine --sizes 1024
//! cargo run --release --example tune -- --show
//! cargo run --release --example tune -- --forget
//! ```
//! A size of gemm is the edge of a cube, or m x n x k. Of sketch, it is the rows of a square matrix that a Gaussian operator
//! reduces to a quarter of them, or m x n x k: an operator of m rows and k columns, applied to a matrix of k x n. Of attention, it
//! is the number of queries and keys, or queries x keys x head dim, with eight heads. For each operation it prints the plan that was predicted to be the fastest, the one that was,
//! and the gain. A program profits if it opens its device with `TILEWISE_TUNING=remembered`.

use clap::{Parser, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use std::fmt;
use std::ops::ControlFlow;
use std::process::ExitCode;
use support::dtype::Type;
use support::ended;
use support::size::Size;
use tilewise::gpu::{CacheFolder, Tried, TriedVerdict, Tuned, Tuning};
use tilewise::planning::attention::{
    AttentionLayouts, AttentionProblem, AttentionRange, AttentionStatistics,
};
use tilewise::planning::gemm::{GemmProblem, GemmTypes};
use tilewise::planning::sketch::DenseProblem;
use tilewise::sketch::{Direction, Sketch, SketchKind};
use tilewise::{DType, Error, Gpu, GpuOptions, Layout, Progress, Result, with_progress};

/// Heads of an attention.
const HEADS: usize = 8;
/// The head dim of an attention whose size is one number.
const DIM: usize = 64;

/// Tunes a list of operations, so that later runs take the plans that were the fastest.
#[derive(Parser)]
struct Args {
    /// The operations, separated by commas
    #[arg(long, value_delimiter = ',', default_value = "gemm")]
    ops: Vec<Op>,
    /// Sizes, separated by commas: 512, or 64x4096x1024 (gemm, sketch: m x n x k; attention: queries x keys x head dim)
    #[arg(long, value_delimiter = ',', default_value = "256,512")]
    sizes: Vec<Size>,
    /// Element types, separated by commas
    #[arg(long, value_delimiter = ',', default_value = "f32")]
    dtypes: Vec<Type>,
    /// Measures the device's rates first, so that later runs predict with them
    #[arg(long)]
    machine: bool,
    /// Prints what was tried so far, and tunes nothing
    #[arg(long, conflicts_with = "forget")]
    show: bool,
    /// Forgets what was tuned on this device
    #[arg(long)]
    forget: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Op {
    Gemm,
    Sketch,
    Attention,
}

/// A problem to tune.
enum Task {
    Gemm(Box<GemmProblem>),
    Sketch(String, Box<DenseProblem>),
    Attention(Box<AttentionProblem>),
}

// NOTE: public for `benches/programs.rs`, which starts it by its name.
pub(crate) fn main() -> ExitCode {
    ended(run(&Args::parse()))
}

/// Returns whether every candidate that was tried had right results.
fn run(args: &Args) -> Result<bool> {
    let mut options = GpuOptions::from_env()?;
    if options.cache == CacheFolder::Off {
        let why = "it is off, so nothing would be remembered: unset it, or set it to a folder";
        return Err(Error::Input { what: "TILEWISE_CACHE".into(), why: why.into() });
    }
    options.tuning = Tuning::Remembered;
    let tasks = tasks(args)?;
    let gpu = Gpu::open_with(options)?;
    println!("{}, {}", gpu.caps().adapter, gpu.caps().driver);
    if args.forget {
        let count = gpu.tuned().len();
        gpu.forget_tuning();
        println!("forgotten: what was tried in {count} runs");
        return Ok(true);
    }
    if args.show {
        let all = gpu.tuned();
        all.iter().for_each(|tuned| println!("{tuned}"));
        if all.is_empty() {
            println!("nothing was tuned on this device so far");
        }
        return Ok(true);
    }
    if args.machine {
        println!("{}", gpu.measure_machine()?);
    }
    let mut are_right = true;
    // Shown only on a terminal.
    let bar = ProgressBar::new(tasks.len() as u64).with_style(style()?);
    for task in &tasks {
        let (shown, name) = (bar.clone(), task.to_string());
        let show = move |progress: Progress<'_>| {
            shown.set_message(format!("{name}: {}", progress.what));
            ControlFlow::Continue(())
        };
        let tuned = with_progress(show, || task.tune(&gpu))?;
        are_right &= tuned.tried.iter().all(|tried| tried.verdict != TriedVerdict::Wrong);
        bar.suspend(|| println!("{}", Outcome(&tuned)));
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(are_right)
}

fn style() -> Result<ProgressStyle> {
    ProgressStyle::with_template("{bar:32} {pos}/{len} {elapsed_precise} {msg}")
        .map_err(|e| Error::Input { what: "the progress bar".into(), why: e.to_string() })
}

/// Every operation in every size and type.
fn tasks(args: &Args) -> Result<Vec<Task>> {
    let mut tasks = Vec::new();
    for op in &args.ops {
        for size in &args.sizes {
            for dtype in &args.dtypes {
                tasks.push(task(*op, *size, *dtype)?);
            }
        }
    }
    Ok(tasks)
}

fn task(op: Op, size: Size, dtype: Type) -> Result<Task> {
    let of = |shape: &[usize]| Layout::contiguous("tune", shape);
    match op {
        Op::Gemm => {
            let [m, n, k] = match size {
                Size::Edge(edge) => [edge; 3],
                Size::Shape(sizes) => sizes,
            };
            let types = match dtype {
                Type::I8 => GemmTypes::new(DType::I8, DType::I32),
                float => GemmTypes::new(float.into(), DType::F32),
            };
            let problem = GemmProblem::new(&of(&[m, k])?, &of(&[k, n])?, &of(&[m, n])?, types)?;
            Ok(Task::Gemm(Box::new(problem)))
        }
        Op::Sketch => {
            let [m, n, k] = match size {
                Size::Edge(edge) => [edge.div_ceil(4), edge, edge],
                Size::Shape(sizes) => sizes,
            };
            let dtype = real(op, dtype)?;
            // The plan is the same whatever the seed.
            let sketch = Sketch::new(SketchKind::Gaussian, [m, k], 1)?;
            let problem = DenseProblem::new(&sketch, Direction::Forward, &of(&[k, n])?, 0, dtype)?;
            Ok(Task::Sketch(format!("sketch of {m}x{k} of {k}x{n} {dtype}"), Box::new(problem)))
        }
        Op::Attention => {
            let [queries, keys, dim] = match size {
                Size::Edge(length) => [length, length, DIM],
                Size::Shape(sizes) => sizes,
            };
            let dtype = real(op, dtype)?;
            let (q, k) = (of(&[1, HEADS, queries, dim])?, of(&[1, HEADS, keys, dim])?);
            let (bias, lengths, keep, slopes) = (None, None, None, None);
            let layouts = AttentionLayouts { q: &q, k: &k, v: &k, bias, lengths, keep, slopes };
            let (range, statistics) = (AttentionRange::default(), AttentionStatistics::None);
            Ok(Task::Attention(Box::new(AttentionProblem::new(layouts, range, statistics, dtype)?)))
        }
    }
}

/// The type of an operation that computes with real numbers.
fn real(op: Op, dtype: Type) -> Result<DType> {
    let dtype = DType::from(dtype);
    if !dtype.is_real() {
        let why = format!("{} takes f32, f16 or bf16, not {dtype}", format!("{op:?}").to_lowercase());
        return Err(Error::Input { what: "--dtypes".into(), why });
    }
    Ok(dtype)
}

impl Task {
    fn tune(&self, gpu: &Gpu) -> Result<Tuned> {
        match self {
            Self::Gemm(problem) => gpu.tune(&**problem),
            Self::Sketch(_, problem) => gpu.tune(&**problem),
            Self::Attention(problem) => gpu.tune(&**problem),
        }
    }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gemm(problem) => problem.fmt(f),
            Self::Sketch(name, _) => f.write_str(name),
            Self::Attention(problem) => problem.fmt(f),
        }
    }
}

/// What the prediction chose, what was the fastest, and the gain.
struct Outcome<'a>(&'a Tuned);

impl fmt::Display for Outcome<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(tuned) = self;
        writeln!(f, "{}", tuned.problem)?;
        let line = |tried: Option<&Tried>| tried.map_or_else(|| "nothing".to_owned(), Tried::to_string);
        writeln!(f, "  predicted to be the fastest: {}", line(tuned.tried.first()))?;
        writeln!(f, "  the fastest:                 {}", line(tuned.winner()))?;
        match tuned.gain() {
            Some(gain) => write!(f, "  gain: {gain:.2} times, of {} candidates", tuned.tried.len()),
            None => write!(f, "  nothing was measured"),
        }
    }
}
