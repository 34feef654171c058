//! Multiplies two matrices, random or out of `.npy` files, and checks the product against f64.
//!
//! ```sh
//! cargo run --release --example gemm -- --m 129 --n 127 --k 131 --dtype f16 --layout tt
//! cargo run --release --example gemm -- --a A.npy --b B.npy --out C.npy
//! ```
//! It prints the device, the plan with its reasons, the time on the device's own clock and the error with its
//! bound. The exit status is 0 only if every entry that was checked is within its bound.

mod support;

use clap::{Parser, ValueEnum};
use serde_json::{Value, json};
use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;
use support::{chosen_kernel, significant, splitmix};
use tilewise::gemm::{GemmProblem, GemmTypes, Operand, Tile, plan, product_shape};
use tilewise::gpu::{Clock, Timing};
use tilewise::io::{Npy, NpyData, Order, write_npy_slice};
use tilewise::reference::{self, Comparison};
use tilewise::{
    DType, Element, Error, Fill, Gemm, GemmKernel, Gpu, Layout, Plan, Real, Result, Sums, Tensor, f16,
};

/// Multiply-adds up to which every entry of the product is checked.
const FULL_CHECK: f64 = (1u64 << 30) as f64;
/// Entries that are checked of a larger product.
const ENTRIES: usize = 4096;

/// Multiplies two matrices, random or out of .npy files, and checks the product against f64.
#[derive(Parser)]
struct Args {
    /// Rows of A and C
    #[arg(long, default_value_t = 512, conflicts_with = "a")]
    m: usize,
    /// Columns of B and C
    #[arg(long, default_value_t = 512, conflicts_with = "a")]
    n: usize,
    /// Columns of A, rows of B
    #[arg(long, default_value_t = 512, conflicts_with = "a")]
    k: usize,
    /// Type of A and B: f32 unless files say otherwise; files of another type are cast
    #[arg(long)]
    dtype: Option<Type>,
    /// Type of C
    #[arg(long, default_value = "f32")]
    out_dtype: Type,
    /// How A and B are stored: n row-major, t transposed and multiplied as a view
    #[arg(long, default_value = "nn")]
    layout: Layouts,
    /// What sums may be computed in: f16 is less precise, where a kernel has such a form
    #[arg(long, default_value = "f32")]
    sums: Type,
    /// Which kernel: the plan's choice, or a pinned one
    #[arg(long, default_value = "auto")]
    kernel: Choice,
    /// Pins a tile of the table by its block, patch and edge of matrices, or the first of these: 64x64x8,
    /// 128x128x8/16x16, 128x128x16/64x32/8
    #[arg(long, conflicts_with = "kernel")]
    tile: Option<String>,
    /// A from this file: NumPy's .npy, of any type that tensors have, C or Fortran order
    #[arg(long, requires = "b")]
    a: Option<PathBuf>,
    /// B from this file
    #[arg(long, requires = "a")]
    b: Option<PathBuf>,
    /// Writes C to this file
    #[arg(long)]
    out: Option<PathBuf>,
    /// Timed repetitions, after a warm-up
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Seed of the random matrices and of the sampled check
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Type {
    F16,
    F32,
}

#[derive(Clone, Copy, ValueEnum)]
enum Layouts {
    Nn,
    Nt,
    Tn,
    Tt,
}

#[derive(Clone, Copy, ValueEnum)]
enum Choice {
    Auto,
    Naive,
    Tiled,
    Coop,
}

fn main() -> ExitCode {
    let args = Args::parse();
    match run(&args) {
        Ok(report) => {
            if args.json {
                println!("{}", report.json());
            } else {
                print!("{report}");
            }
            if report.found.ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Reads or makes the operands' types known, and goes on with them.
fn run(args: &Args) -> Result<Report> {
    let files = match (&args.a, &args.b) {
        (Some(a), Some(b)) => Some([Npy::read(a)?, Npy::read(b)?]),
        _ => None,
    };
    let dtype = match (args.dtype, &files) {
        (Some(dtype), _) => dtype.into(),
        (None, None) => DType::F32,
        (None, Some([a, b])) if a.dtype() == b.dtype() => a.dtype(),
        (None, Some([a, b])) => {
            let why = format!(
                "A holds {}, B {}: cast them to one type with --dtype (Tensor::cast)",
                a.dtype(),
                b.dtype()
            );
            return Err(Error::Input { what: "operands of two types".into(), why });
        }
    };
    match (dtype, args.out_dtype) {
        (DType::F16, Type::F16) => multiply::<f16, f16>(args, files),
        (DType::F16, Type::F32) => multiply::<f16, f32>(args, files),
        (DType::F32, Type::F16) => multiply::<f32, f16>(args, files),
        (DType::F32, Type::F32) => multiply::<f32, f32>(args, files),
        (other, _) => Err(not_multiplied(other)),
    }
}

/// Elements of files that are neither f32 nor f16.
fn not_multiplied(dtype: DType) -> Error {
    let why = "this example multiplies f32 and f16: say with --dtype what to convert them to";
    Error::Input { what: format!("operands of {dtype}"), why: why.into() }
}

fn multiply<T: Real, C: Real>(args: &Args, files: Option<[Npy; 2]>) -> Result<Report> {
    let sources = match files {
        Some(files) => files.map(Source::File),
        None => [([args.m, args.k], 0), ([args.k, args.n], 1)]
            .map(|(shape, which)| Source::Random(shape, args.seed.wrapping_mul(2).wrapping_add(which))),
    };
    let [a_stored, b_stored] = args.layout.of_operands();
    // Before an element is drawn or a device opened: whether the shapes go together, and how large they are.
    let shapes = [sources[0].shape(a_stored), sources[1].shape(b_stored)];
    let types = GemmTypes { sums: args.sums.into(), ..GemmTypes::new(T::DTYPE, C::DTYPE) };
    let problem = problem(&shapes, types)?;
    let gpu = Gpu::open()?;
    plan(&problem, gpu.caps())?;
    let (a, b) = (sources[0].matrix::<T>(a_stored)?, sources[1].matrix::<T>(b_stored)?);
    let [m, n, k] = [a.shape[0], b.shape[1], b.shape[0]];

    let (a_tensor, b_tensor) = (a.upload(&gpu)?, b.upload(&gpu)?);
    let product = pinned(Gemm::new(&a_tensor, &b_tensor).out::<C>().sums(types.sums), args)?;
    let plan = product.plan()?;
    let mut c = product.run()?; // the warm-up: compiles
    let mut timings = Vec::new();
    // Where C is empty nothing is launched, and nothing takes time.
    for _ in 0..if c.is_empty() { 0 } else { args.repeat } {
        let (timed, timing) = gpu.time(|| product.run())?;
        timings.push(timing);
        c = timed;
    }

    let c = c.to_vec()?;
    if let Some(path) = &args.out {
        write_npy_slice(path, [m, n], &c)?;
    }
    let (check, found) = verify(&a.row_major(), &b.row_major(), &c, [m, n, k], types.sums, args.seed);
    Ok(Report {
        gpu,
        plan,
        size: [m, n, k],
        types: [T::DTYPE, C::DTYPE],
        layout: args.layout,
        timings,
        check,
        found,
    })
}

/// The product of matrices of these shapes.
fn problem([a, b]: &[Vec<usize>; 2], types: GemmTypes) -> Result<GemmProblem> {
    let [a, b] = [Layout::contiguous("matmul", a)?, Layout::contiguous("matmul", b)?];
    let c = Layout::contiguous("matmul", &product_shape(&a, &b)?)?;
    GemmProblem::new(&a, &b, &c, types)
}

fn pinned<'a, T: Operand, C: Element>(product: Gemm<'a, T, C>, args: &Args) -> Result<Gemm<'a, T, C>> {
    let Some(wanted) = &args.tile else {
        return Ok(match args.kernel {
            Choice::Auto => product,
            Choice::Naive => product.kernel(GemmKernel::Naive),
            Choice::Tiled => product.kernel(GemmKernel::Tiled),
            Choice::Coop => product.kernel(GemmKernel::Coop),
        });
    };
    let tiles = || GemmKernel::ALL.iter().flat_map(|kernel| kernel.tiles());
    let tile = tiles().find(|tile| format!("{}/", name(tile)).starts_with(&format!("{wanted}/")));
    tile.map(|tile| product.tile(*tile)).ok_or_else(|| {
        let known: Vec<String> = tiles().map(name).collect();
        Error::Input { what: format!("--tile {wanted}"), why: format!("there are {}", known.join(", ")) }
    })
}

/// A tile's block, patch, and edge of its cooperative matrices.
fn name(tile: &Tile) -> String {
    let Tile { bm, bn, bk, tm, tn, fragment, .. } = tile;
    let patch = format!("{bm}x{bn}x{bk}/{tm}x{tn}");
    if *fragment == 0 { patch } else { format!("{patch}/{fragment}") }
}

/// Where a matrix comes from.
enum Source {
    File(Npy),
    /// Its shape, and the seed.
    Random([usize; 2], u64),
}

/// How an operand is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Storage {
    RowMajor,
    Transposed,
}

impl Source {
    /// The shape of the operand: a file that is stored transposed has the reverse.
    fn shape(&self, stored: Storage) -> Vec<usize> {
        match (self, stored) {
            (Self::Random(shape, _), _) => shape.to_vec(),
            (Self::File(file), Storage::RowMajor) => file.shape().to_vec(),
            (Self::File(file), Storage::Transposed) => file.shape().iter().rev().copied().collect(),
        }
    }

    fn matrix<T: Operand>(&self, stored: Storage) -> Result<Matrix<T>> {
        let shape = self.shape(stored);
        match self {
            Self::Random(_, seed) => {
                Ok(Matrix { elements: Fill::Uniform.values(shape.iter().product(), *seed), shape, stored })
            }
            Self::File(file) => {
                let elements = match file.data() {
                    NpyData::F32(elements) => elements.iter().map(|x| T::from_f64(x.to_f64())).collect(),
                    NpyData::F16(elements) => elements.iter().map(|x| T::from_f64(x.to_f64())).collect(),
                    NpyData::I8(elements) => elements.iter().map(|x| T::from_f64(x.to_f64())).collect(),
                    NpyData::I32(elements) => elements.iter().map(|x| T::from_f64(x.to_f64())).collect(),
                    _ => return Err(not_multiplied(file.dtype())),
                };
                // The transpose of C order is Fortran order, and the other way round.
                let turned = (file.order() == Order::Fortran) != (stored == Storage::Transposed);
                let stored = if turned { Storage::Transposed } else { Storage::RowMajor };
                Ok(Matrix { elements, shape, stored })
            }
        }
    }
}

/// An operand on the host: its shape, and its elements as they are stored.
struct Matrix<T> {
    elements: Vec<T>,
    shape: Vec<usize>,
    stored: Storage,
}

impl<T: Operand> Matrix<T> {
    /// The elements as they are stored; what is stored transposed becomes a view.
    fn upload(&self, gpu: &Gpu) -> Result<Tensor<T>> {
        match self.stored {
            Storage::RowMajor => gpu.tensor(&self.elements, &self.shape),
            Storage::Transposed => Ok(gpu.tensor(&self.elements, [self.shape[1], self.shape[0]])?.t()),
        }
    }

    fn row_major(&self) -> Vec<T> {
        match self.stored {
            Storage::RowMajor => self.elements.clone(),
            Storage::Transposed => {
                let rows = self.shape[0];
                (0..rows).flat_map(|row| self.elements.iter().skip(row).step_by(rows).copied()).collect()
            }
        }
    }
}

/// Compares the product with its definition in f64; says which check that was.
fn verify<T: Operand, C: Element>(
    a: &[T],
    b: &[T],
    c: &[C],
    size: [usize; 3],
    sums: Sums,
    seed: u64,
) -> (String, Comparison) {
    let [m, n, _] = size;
    if size.iter().map(|&extent| extent as f64).product::<f64>() <= FULL_CHECK {
        return ("full".into(), reference::gemm(a, b, size).summed(sums).compare(c));
    }
    let mut random = splitmix(seed);
    let mut below = |limit: usize| usize::try_from(random() % limit as u64).unwrap_or(0);
    let places: Vec<[usize; 2]> = (0..ENTRIES).map(|_| [below(m), below(n)]).collect();
    let picked: Vec<C> = places.iter().map(|&[row, col]| c[row * n + col]).collect();
    let signs: Vec<f64> = (0..n).map(|_| if below(2) == 0 { 1.0 } else { -1.0 }).collect();
    let entries = reference::gemm_entries(a, b, size, &places).summed(sums).compare(&picked);
    let rows = reference::projection(a, b, c, size, &signs, sums);
    let bound_ratio = entries.bound_ratio.max(rows.bound_ratio);
    (format!("{ENTRIES} entries and a projection"), Comparison { bound_ratio, ..entries })
}

/// What came out.
struct Report {
    gpu: Gpu,
    plan: Plan,
    size: [usize; 3],
    types: [DType; 2],
    layout: Layouts,
    timings: Vec<Timing>,
    check: String,
    found: Comparison,
}

impl Report {
    /// Seconds: the fastest, the median, the slowest.
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

    fn json(&self) -> Value {
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
            "layout": self.layout.to_string(),
            "repeat": self.timings.len(),
            "clock": self.clock(),
            "gpu_seconds_median": median,
            "gpu_seconds_min": min,
            "gpu_seconds_max": max,
            "tflops": self.tflops(),
            "check": self.check,
            "max_abs_err": self.found.max_abs_err,
            "bound_ratio": self.found.bound_ratio,
            "ok": self.found.ok(),
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
        let verdict = if self.found.ok() { "ok" } else { "WRONG" };
        let plan = self.plan.to_string().replace("\n  ", "\n           ");
        writeln!(f, "device     {}, {}, {}", caps.adapter, caps.backend, caps.driver)?;
        writeln!(f, "product    ({m}, {k}) x ({k}, {n}), {dtype} x {dtype} -> {out_dtype}, {}", self.layout)?;
        writeln!(f, "plan       {plan}")?;
        match self.timings.len() {
            0 => writeln!(f, "time       none: C is empty")?,
            runs => {
                writeln!(f, "time       {median} ms ({min} to {max}; {runs} runs, {} clock)", self.clock())?
            }
        }
        writeln!(f, "speed      {} TFLOP/s", significant(self.tflops()))?;
        writeln!(f, "error      at most {max_abs_err:.2e}, {} of the bound", significant(bound_ratio))?;
        writeln!(f, "check      {verdict} ({}, against f64)", self.check)
    }
}

impl From<Type> for DType {
    fn from(dtype: Type) -> Self {
        match dtype {
            Type::F16 => Self::F16,
            Type::F32 => Self::F32,
        }
    }
}

impl From<Type> for Sums {
    fn from(sums: Type) -> Self {
        match sums {
            Type::F16 => Self::F16,
            Type::F32 => Self::F32,
        }
    }
}

impl Layouts {
    fn of_operands(self) -> [Storage; 2] {
        use Storage::{RowMajor, Transposed};
        match self {
            Self::Nn => [RowMajor, RowMajor],
            Self::Nt => [RowMajor, Transposed],
            Self::Tn => [Transposed, RowMajor],
            Self::Tt => [Transposed, Transposed],
        }
    }
}

impl fmt::Display for Layouts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nn => "nn",
            Self::Nt => "nt",
            Self::Tn => "tn",
            Self::Tt => "tt",
        })
    }
}
