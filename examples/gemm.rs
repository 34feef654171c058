//! Multiplies two matrices, random or from `.npy` files, and checks the product against f64.
//!
//! ```sh
//! cargo run --release --example gemm -- --m 129 --n 127 --k 131 --dtype f16 --layout tt
//! cargo run --release --example gemm -- --a A.npy --b B.npy --out C.npy
//! ```
//! It prints the device, the plan with its reasons, the time on the device's clock, and the error with its bound. The
//! exit status is 0 only if every checked entry is within its bound.

use clap::{Parser, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use support::dtype::Type;
use support::operands::{Source, Storage};
use support::report::{Report, Rounding, verify};
use support::reported;
use tilewise::gemm::{Accumulator, Float, GemmKernel, Operand, Tile};
use tilewise::io::{Npy, write_npy_slice};
use tilewise::planning::Problem;
use tilewise::planning::gemm::{GemmProblem, GemmTypes, product_shape};
use tilewise::{
    DType, Element, Error, F8E4M3, F8E5M2, Gemm, Gpu, Layout, Precision, Real, Result, bf16, f16,
};

/// Multiplies two matrices, random or from .npy files, and checks the product against f64.
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
    /// Type of A and B: that of the files, or f32; files of another type are cast
    #[arg(long)]
    dtype: Option<Type>,
    /// Type of C: f32 by default; i32 for products of i8
    #[arg(long)]
    out_dtype: Option<OutType>,
    /// How A and B are stored: n row-major, t transposed and multiplied as a view
    #[arg(long, default_value = "nn")]
    layout: Layouts,
    /// Type of the sums: f16 allows less precise partial sums, in kernels that have this variant
    #[arg(long, default_value = "f32")]
    sums: SumType,
    /// The kernel: auto for the plan's choice, or a name to pin it
    #[arg(long, default_value = "auto")]
    kernel: Choice,
    /// How products of f32 are computed: strict, fast or split; by default as `TILEWISE_PRECISION` says, or strict
    #[arg(long)]
    precision: Option<Precision>,
    /// Pins a tile by its block, or its block / register or subgroup tile / edge of matrices: 64x64x8,
    /// 128x128x8/16x16, 128x128x16/64x32/8
    #[arg(long, conflicts_with = "kernel")]
    tile: Option<String>,
    /// Reads A from this .npy file: any type of a tensor, C or Fortran order
    #[arg(long, requires = "b")]
    a: Option<PathBuf>,
    /// Reads B from this .npy file
    #[arg(long, requires = "a")]
    b: Option<PathBuf>,
    /// Writes C to this .npy file
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
enum OutType {
    F16,
    F32,
    Bf16,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SumType {
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

/// A kernel by its name; `None` is the plan's choice.
#[derive(Clone, Copy)]
struct Choice(Option<GemmKernel>);

impl FromStr for Choice {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let kernel = GemmKernel::ALL.into_iter().find(|kernel| kernel.to_string() == name);
        if kernel.is_none() && name != "auto" {
            let names = GemmKernel::ALL.map(|kernel| kernel.to_string()).join(", ");
            return Err(format!("possible values: auto, {names}"));
        }
        Ok(Self(kernel))
    }
}

// NOTE: public for `benches/programs.rs`, which starts it by its name.
pub(crate) fn main() -> ExitCode {
    let args = Args::parse();
    reported(run(&args), args.json, Report::json, Report::ok)
}

/// Determines the operands' type, and multiplies operands of that type.
fn run(args: &Args) -> Result<Report> {
    let files = match (&args.a, &args.b) {
        (Some(a), Some(b)) => Some([Npy::read(a)?, Npy::read(b)?]),
        _ => None,
    };
    let dtype = match (args.dtype, &files) {
        (Some(dtype), _) => dtype.into(),
        (None, None) => DType::F32,
        (None, Some([a, b])) => match (a.dtype(), b.dtype()) {
            (Some(a), Some(b)) if a == b => a,
            (Some(a), Some(b)) => {
                let why = format!("A holds {a}, B {b}: cast them to one type with --dtype (Tensor::cast)");
                return Err(Error::Input { what: "operands of two types".into(), why });
            }
            (of_a, _) => {
                let (path, file) = if of_a.is_none() { (&args.a, a) } else { (&args.b, b) };
                let what = path.as_ref().map_or(String::new(), |path| path.display().to_string());
                let advice = "convert it to f32, for example by `x.astype('float32')` in NumPy";
                let why = format!("holds {}, which no tensor has: {advice}", file.data().type_name());
                return Err(Error::Input { what, why });
            }
        },
    };
    match dtype {
        DType::F32 => multiply_floats::<f32>(args, files),
        DType::F16 => multiply_floats::<f16>(args, files),
        DType::Bf16 => multiply_floats::<bf16>(args, files),
        DType::F8E4M3 => multiply_floats::<F8E4M3>(args, files),
        DType::F8E5M2 => multiply_floats::<F8E5M2>(args, files),
        DType::I8 => multiply_integers(args, files),
        other => Err(not_multiplied(other)),
    }
}

/// The error for files whose elements no product takes.
fn not_multiplied(dtype: DType) -> Error {
    let why = "products take f32, f16, bf16, i8, e4m3 or e5m2: name one of them with --dtype to convert";
    Error::Input { what: format!("operands of {dtype}"), why: why.into() }
}

fn multiply_integers(args: &Args, files: Option<[Npy; 2]>) -> Result<Report> {
    let option = match (args.out_dtype, args.sums) {
        (None, SumType::F32) => return multiply::<i8, i32>(args, files, |product, _| product),
        (Some(_), _) => "--out-dtype",
        (None, SumType::F16) => "--sums",
    };
    Err(Error::Input {
        what: option.into(),
        why: "products of i8 are always computed and returned in i32: leave this option out".into(),
    })
}

fn multiply_floats<T: Float>(args: &Args, files: Option<[Npy; 2]>) -> Result<Report> {
    match args.out_dtype {
        Some(OutType::F16) => multiply::<T, f16>(args, files, float),
        Some(OutType::Bf16) => multiply::<T, bf16>(args, files, float),
        Some(OutType::F32) | None => multiply::<T, f32>(args, files, float),
    }
}

/// Sets the options of a product other than its kernel.
type Configure<T, C> = for<'a> fn(Gemm<'a, T>, Rounding) -> Gemm<'a, T, C>;

fn float<T: Float, C: Real>(product: Gemm<'_, T>, rounding: Rounding) -> Gemm<'_, T, C> {
    product.out::<C>().accumulator(rounding.sums).precision(rounding.precision)
}

fn multiply<T: Operand, C: Element>(
    args: &Args,
    files: Option<[Npy; 2]>,
    configure: Configure<T, C>,
) -> Result<Report> {
    let sources = match files {
        Some(files) => files.map(Source::File),
        None => [([args.m, args.k], 0), ([args.k, args.n], 1)]
            .map(|(shape, which)| Source::Random(shape, args.seed.wrapping_mul(2).wrapping_add(which))),
    };
    let [a_stored, b_stored] = args.layout.of_operands();
    // Check the shapes and their sizes before drawing elements or opening a device.
    let shapes = [sources[0].shape(a_stored), sources[1].shape(b_stored)];
    let types = GemmTypes { accumulator: args.sums.into(), ..GemmTypes::new(T::DTYPE, C::DTYPE) };
    let problem = problem(&shapes, types)?;
    check_precision(args, T::DTYPE)?;
    let gpu = Gpu::open()?;
    let precision = if T::DTYPE == DType::F32 {
        args.precision.unwrap_or_else(|| gpu.precision())
    } else {
        Precision::Strict
    };
    for shape in &shapes {
        let bytes = shape.iter().fold(T::DTYPE.size(), |bytes, &extent| bytes.saturating_mul(extent));
        let needed = bytes as u64;
        let allowed = gpu.caps().limits.buffer_bytes;
        if needed > allowed {
            let what = "the size of one operand in bytes".into();
            return Err(Error::Limit { op: "matmul", what, needed, allowed });
        }
    }
    problem.plan(gpu.caps())?;
    let (a, b) = (sources[0].matrix::<T>(a_stored)?, sources[1].matrix::<T>(b_stored)?);
    let [m, n, k] = [a.shape[0], b.shape[1], b.shape[0]];

    let (a_tensor, b_tensor) = (a.upload(&gpu)?, b.upload(&gpu)?);
    let rounding = Rounding { sums: types.accumulator, precision };
    let product = pinned(configure(Gemm::new(&a_tensor, &b_tensor), rounding), args)?;
    let plan = product.plan()?;
    let mut c = product.run()?; // the warm-up, which compiles
    let mut timings = Vec::new();
    // If C is empty, nothing is launched, so there is nothing to time.
    for _ in 0..if c.is_empty() { 0 } else { args.repeat } {
        let (timed, timing) = gpu.time(|| product.run())?;
        timings.push(timing);
        c = timed;
    }

    let c = c.to_vec()?;
    if let Some(path) = &args.out {
        write_npy_slice(path, [m, n], &c)?;
    }
    let (check, found) = verify(&a.row_major(), &b.row_major(), &c, [m, n, k], rounding, args.seed);
    Ok(Report {
        gpu,
        plan,
        size: [m, n, k],
        types: [T::DTYPE, C::DTYPE],
        layout: args.layout.name(),
        precision,
        timings,
        check,
        found,
    })
}

/// Only products of f32 have a choice of precision.
fn check_precision(args: &Args, dtype: DType) -> Result<()> {
    match args.precision {
        Some(precision) if dtype != DType::F32 && precision != Precision::Strict => {
            let why = format!("only products of f32 have it; these operands are {dtype}");
            Err(Error::Input { what: format!("--precision {precision}"), why })
        }
        _ => Ok(()),
    }
}

/// The problem of multiplying matrices of these shapes.
fn problem([a, b]: &[Vec<usize>; 2], types: GemmTypes) -> Result<GemmProblem> {
    let [a, b] = [Layout::contiguous("matmul", a)?, Layout::contiguous("matmul", b)?];
    let c = Layout::contiguous("matmul", &product_shape(&a, &b)?)?;
    GemmProblem::new(&a, &b, &c, types)
}

fn pinned<'a, T: Operand, C: Element>(product: Gemm<'a, T, C>, args: &Args) -> Result<Gemm<'a, T, C>> {
    let Some(wanted) = &args.tile else {
        return Ok(match args.kernel {
            Choice(Some(kernel)) => product.kernel(kernel),
            Choice(None) => product,
        });
    };
    let tiles = || GemmKernel::ALL.iter().flat_map(|kernel| kernel.tiles());
    let tile = tiles().find(|tile| format!("{}/", name(tile)).starts_with(&format!("{wanted}/")));
    tile.map(|tile| product.tile(*tile)).ok_or_else(|| {
        let known: Vec<String> = tiles().map(name).collect();
        Error::Input { what: format!("--tile {wanted}"), why: format!("the tiles are {}", known.join(", ")) }
    })
}

/// A tile's block, its register or subgroup tile, and the edge of its cooperative matrices.
fn name(tile: &Tile) -> String {
    let Tile { bm, bn, bk, tm, tn, fragment, .. } = tile;
    let sizes = format!("{bm}x{bn}x{bk}/{tm}x{tn}");
    if *fragment == 0 { sizes } else { format!("{sizes}/{fragment}") }
}

impl From<SumType> for Accumulator {
    fn from(sums: SumType) -> Self {
        match sums {
            SumType::F16 => Self::F16,
            SumType::F32 => Self::F32,
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

    fn name(self) -> &'static str {
        match self {
            Self::Nn => "nn",
            Self::Nt => "nt",
            Self::Tn => "tn",
            Self::Tt => "tt",
        }
    }
}
