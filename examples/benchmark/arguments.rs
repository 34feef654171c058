//! The arguments.

use crate::case::Op;
use clap::{Parser, ValueEnum};
use std::path::PathBuf;
use std::str::FromStr;
use support::dtype::Type;
use support::size::Size;
use tilewise::gemm::GemmKernel;
use tilewise::{Error, Precision, Result};

/// Measures operations on this machine's device, checks them, and compares them with the device's peaks.
#[derive(Parser)]
pub(crate) struct Args {
    /// Few sizes and types: a minute or two on a software device
    #[arg(long)]
    pub(crate) quick: bool,
    /// What to measure; everything by default
    #[arg(long, value_delimiter = ',', value_name = "OP,..")]
    pub(crate) ops: Vec<Op>,
    /// Sizes: N, or `MxNxK`. N is N x N x N for gemm, an N x N matrix for gemv (whose N of `MxNxK` is 1), and a length for the
    /// others
    #[arg(long, value_delimiter = ',', value_name = "SIZE,..")]
    pub(crate) sizes: Vec<Size>,
    /// Types of the operands; by default f32, f16, bf16 and i8 where the operation has them, with --quick without bf16. Products
    /// have e4m3 and e5m2, too
    #[arg(long, value_delimiter = ',', value_name = "DTYPE,..")]
    pub(crate) dtypes: Vec<Type>,
    /// How products of f32 are computed: strict, fast, split; strict by default
    #[arg(long, value_delimiter = ',', value_name = "PRECISION,..")]
    pub(crate) precisions: Vec<Precision>,
    /// Kernels of gemm and gemv: auto is the plan's choice, a name pins one, all is auto and each kernel that fits;
    /// auto by default
    #[arg(long, value_delimiter = ',', value_name = "KERNEL,..")]
    pub(crate) kernels: Vec<Kernels>,
    /// Rounds, in each of which every case is timed once; 25 by default
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
    /// Saves the run, for --compare and --from of later runs. A file that exists is replaced when the run has ended; until
    /// then what was measured is in FILE.partial
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Compares the run with a saved one of the same device and driver
    #[arg(long, value_name = "FILE")]
    pub(crate) compare: Option<PathBuf>,
    /// Ends with exit status 1 if a row is at least 10% slower than in the compared run
    #[arg(long, requires = "compare")]
    pub(crate) fail_on_regression: bool,
    /// Measures nothing: takes a saved run, to print, draw or compare it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["quick", "ops", "sizes", "dtypes", "precisions", "kernels", "rounds", "save"])]
    pub(crate) from: Option<PathBuf>,
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

impl Args {
    /// The operations to measure.
    pub(crate) fn ops(&self) -> &[Op] {
        if self.ops.is_empty() { Op::value_variants() } else { &self.ops }
    }

    /// Refuses options that none of the operations or types has.
    pub(crate) fn check(&self) -> Result<()> {
        let refuse = |option: &str, why: &str| Err(Error::Input { what: option.into(), why: why.into() });
        let has_products = self.ops().iter().any(|op| op.is_product());
        if !self.kernels.is_empty() && !has_products {
            return refuse("--kernels", "only gemm and gemv have kernels to choose, and --ops names neither");
        }
        if !self.precisions.is_empty() && !has_products {
            return refuse("--precisions", "only gemm and gemv have precisions, and --ops names neither");
        }
        if !self.precisions.is_empty() && !self.dtypes.is_empty() && !self.dtypes.contains(&Type::F32) {
            return refuse(
                "--precisions",
                "only products of f32 have precisions, and --dtypes leaves f32 out",
            );
        }
        Ok(())
    }
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
