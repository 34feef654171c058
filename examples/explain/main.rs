//! Says how a device would multiply two matrices, or convolve images, and how long that is predicted to take: a device of this machine, or one that
//! nobody here has.
//!
//! ```sh
//! cargo run --release --example explain -- --list
//! cargo run --release --example explain -- --device rtx-4090 --m 4096 --n 4096 --k 4096 --dtype f16
//! cargo run --release --example explain -- --device radv-rdna3 --m 64 --n 4096 --k 1024 --layout nt --json
//! cargo run --release --example explain -- --device bare-webgpu --text
//! ```
//! It prints the plan with its reasons, every tile that could run, from the fastest to the slowest, and the roofline; then the plans
//! of a few convolutions of operands of that type. With `--device` no GPU is opened, and nothing is computed. With `--text` it ends
//! with the product's kernels as the device gets them: a file of `shaders/` is a kernel with places that plans fill.

mod candidates;
mod convolutions;
mod report;

use candidates::candidates;
use clap::{Parser, ValueEnum};
use convolutions::convolutions;
use report::Report;
use serde_json::{Value, json};
use std::process::ExitCode;
use support::dtype::Type;
use support::{ended, reported};
use tilewise::planning::gemm::{GemmProblem, GemmTypes};
use tilewise::planning::kernel::{Kernel, Language};
use tilewise::planning::{Problem, fixtures};
use tilewise::{Caps, DType, Error, Gpu, Layout, Precision, Result};

/// Says how a device would multiply two matrices, and how long that is predicted to take.
#[derive(Parser)]
struct Args {
    /// The device to plan for: a name of --list, or its beginning if no other begins so. That of this machine by default
    #[arg(long)]
    device: Option<String>,
    /// Rows of A and C
    #[arg(long, default_value_t = 4096)]
    m: usize,
    /// Columns of B and C
    #[arg(long, default_value_t = 4096)]
    n: usize,
    /// Columns of A, rows of B
    #[arg(long, default_value_t = 4096)]
    k: usize,
    /// Type of A and B. C is f32, or i32 for i8
    #[arg(long, default_value = "f32")]
    dtype: Type,
    /// Precision of a product of f32: strict, fast or split
    #[arg(long, default_value = "strict")]
    precision: Precision,
    /// How A and B are stored: n row-major, t transposed and multiplied as a view
    #[arg(long, default_value = "nn")]
    layout: Layouts,
    /// Lists the devices that can be planned for, and ends
    #[arg(long)]
    list: bool,
    /// Prints the whole text of each kernel of the plan too
    #[arg(long)]
    text: bool,
    /// Prints JSON and nothing else
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Layouts {
    Nn,
    Nt,
    Tn,
    Tt,
}

impl Layouts {
    fn name(self) -> &'static str {
        match self {
            Self::Nn => "nn",
            Self::Nt => "nt",
            Self::Tn => "tn",
            Self::Tt => "tt",
        }
    }
}

/// The types of a product of operands of this type.
fn types(dtype: Type) -> GemmTypes {
    let sum = if dtype == Type::I8 { DType::I32 } else { DType::F32 };
    GemmTypes::new(dtype.into(), sum)
}

fn main() -> ExitCode {
    let args = Args::parse();
    if args.list {
        list(args.json);
        return ended(Ok(true));
    }
    reported(run(&args), args.json, Report::json, |_| true)
}

fn run(args: &Args) -> Result<Report> {
    // What is wrong with the sizes is said before a device is opened.
    let problem = problem(args, args.dtype)?;
    let rounded = self::problem(args, Type::F16)?;
    let (fixture, caps) = match &args.device {
        Some(name) => fixture(name).map(|(name, caps)| (Some(name), caps))?,
        None => (None, Gpu::open()?.caps().clone()),
    };
    let plan = problem.explain(&caps)?;
    // A module of SPIR-V has no text.
    let kernels = plan.steps().iter().map(|step| &step.kernel).filter(|one| one.language() == Language::Wgsl);
    let texts = kernels.filter(|_| args.text).map(Kernel::specialize).collect::<Result<_>>()?;
    Ok(Report {
        fixture,
        plan,
        texts,
        candidates: candidates(&problem, &rounded, &caps),
        convolutions: convolutions(args.dtype.into(), &caps)?,
        problem,
        layout: args.layout.name(),
        precision: args.precision,
        caps,
    })
}

/// The product of these sizes and layouts, of operands of this type.
fn problem(args: &Args, dtype: Type) -> Result<GemmProblem> {
    let (m, n, k) = (args.m, args.n, args.k);
    for (option, size) in [("--m", m), ("--n", n), ("--k", k)] {
        if size == 0 {
            let why = "a product of matrices without elements has nothing to explain; at least 1".into();
            return Err(Error::Input { what: format!("{option} 0"), why });
        }
    }
    let types = types(dtype);
    let stored = |shape: [usize; 2]| Layout::contiguous("explain", &shape);
    let [a_is_transposed, b_is_transposed] = match args.layout {
        Layouts::Nn => [false, false],
        Layouts::Nt => [false, true],
        Layouts::Tn => [true, false],
        Layouts::Tt => [true, true],
    };
    let a = if a_is_transposed { stored([k, m])?.permute(&[1, 0])? } else { stored([m, k])? };
    let b = if b_is_transposed { stored([n, k])?.permute(&[1, 0])? } else { stored([k, n])? };
    Ok(GemmProblem::new(&a, &b, &stored([m, n])?, types)?.precision(args.precision))
}

/// The fixture with this name, or the only one whose name begins so.
fn fixture(name: &str) -> Result<(&'static str, Caps)> {
    let refused = |why: String| Error::Input { what: format!("--device {name}"), why };
    let names = || fixtures::ALL.map(|(name, _)| name).join(", ");
    if let Some((name, caps)) = fixtures::ALL.into_iter().find(|(exact, _)| *exact == name) {
        return Ok((name, caps()));
    }
    let begun: Vec<_> = fixtures::ALL.into_iter().filter(|(full, _)| full.starts_with(name)).collect();
    match begun[..] {
        [(name, caps)] => Ok((name, caps())),
        [] => Err(refused(format!("there is no such device to plan for; there are {}", names()))),
        _ => {
            let begun: Vec<&str> = begun.iter().map(|(name, _)| *name).collect();
            Err(refused(format!("the names of several devices begin so: {}", begun.join(", "))))
        }
    }
}

/// Prints the devices that can be planned for.
fn list(as_json: bool) {
    let devices = fixtures::ALL.map(|(name, caps)| (name, caps()));
    if as_json {
        let devices: Vec<Value> = devices
            .iter()
            .map(|(name, caps)| {
                json!({ "name": name, "device": caps.adapter, "backend": caps.backend, "driver": caps.driver })
            })
            .collect();
        println!("{}", json!({ "devices": devices }));
        return;
    }
    for (name, caps) in &devices {
        let adapter =
            if caps.adapter.is_empty() { "a browser with WebGPU's least limits" } else { &caps.adapter };
        println!("{name:<12} {adapter}, {}, {}", caps.device_type, caps.backend);
    }
}
