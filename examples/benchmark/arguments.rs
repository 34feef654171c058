//! The arguments.

use crate::case::Op;
use clap::{Parser, ValueEnum};
use std::path::PathBuf;
use std::str::FromStr;
use tilewise::{DType, GemmKernel, Precision};

/// Measures operations on this machine's device, checks them, and compares them with the device's peaks.
#[derive(Parser)]
pub(crate) struct Args {
    /// Few sizes, types and rounds: about a minute on a software device
    #[arg(long)]
    pub(crate) quick: bool,
    /// What to measure; everything by default
    #[arg(long, value_delimiter = ',', value_name = "OP,..")]
    pub(crate) ops: Vec<Op>,
    /// Sizes: N, or `MxNxK`. N is N x N x N for gemm, an N x N matrix for gemv, and a length for the others
    #[arg(long, value_delimiter = ',', value_name = "SIZE,..")]
    pub(crate) sizes: Vec<Size>,
    /// Types of the operands; by default f32, f16, bf16 and i8 where the operation has them, with --quick without bf16
    #[arg(long, value_delimiter = ',', value_name = "DTYPE,..")]
    pub(crate) dtypes: Vec<Type>,
    /// How products of f32 are computed: strict, fast, split
    #[arg(long, value_delimiter = ',', value_name = "PRECISION,..", default_value = "strict")]
    pub(crate) precisions: Vec<Precision>,
    /// Kernels of gemm and gemv: auto is the plan's choice, a name pins one, all is auto and each kernel that fits
    #[arg(long, value_delimiter = ',', value_name = "KERNEL,..", default_value = "auto")]
    pub(crate) kernels: Vec<Kernels>,
    /// Rounds, in each of which every case of a size is timed once; by default 25, with --quick 15
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: Option<u32>,
    /// Writes all figures and what follows from them, as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Writes a line of comma-separated values for each row
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Draws a roofline picture
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Saves the run, for --compare and --from of later runs
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Compares the run with a saved one of the same device and driver
    #[arg(long, value_name = "FILE")]
    pub(crate) compare: Option<PathBuf>,
    /// Ends with exit status 1 if a row is at least 10% slower than in the compared run
    #[arg(long, requires = "compare")]
    pub(crate) fail_on_regression: bool,
    /// Measures nothing: takes a saved run, to print, draw or compare it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["quick", "ops", "sizes", "dtypes", "rounds", "save"])]
    pub(crate) from: Option<PathBuf>,
}

/// A size as the user gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// One number, which each operation reads in its own way.
    Edge(usize),
    /// m, n, k.
    Shape([usize; 3]),
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("must be N or MxNxK, such as 1024 or 64x4096x1024, of 1 to {}", usize::MAX);
        let extents = text.split('x').map(|extent| extent.parse().ok().filter(|&extent| extent > 0));
        match extents.collect::<Option<Vec<usize>>>().as_deref() {
            Some(&[edge]) => Ok(Self::Edge(edge)),
            Some(&[m, n, k]) => Ok(Self::Shape([m, n, k])),
            _ => Err(wrong()),
        }
    }
}

/// A type of operands.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Type {
    F32,
    F16,
    Bf16,
    I8,
}

impl From<Type> for DType {
    fn from(dtype: Type) -> Self {
        match dtype {
            Type::F32 => Self::F32,
            Type::F16 => Self::F16,
            Type::Bf16 => Self::Bf16,
            Type::I8 => Self::I8,
        }
    }
}

/// Kernels of a matrix product.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kernels {
    /// The plan's choice.
    Auto,
    /// This one.
    Pinned(GemmKernel),
    /// The plan's choice, and each kernel that fits.
    All,
}

impl FromStr for Kernels {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match (name, GemmKernel::ALL.into_iter().find(|kernel| kernel.to_string() == name)) {
            ("auto", _) => Ok(Self::Auto),
            ("all", _) => Ok(Self::All),
            (_, Some(kernel)) => Ok(Self::Pinned(kernel)),
            (_, None) => {
                let names = GemmKernel::ALL.map(|kernel| kernel.to_string()).join(", ");
                Err(format!("possible values: auto, all, {names}"))
            }
        }
    }
}
