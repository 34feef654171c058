//! Matrix products and convolutions of Tilewise and of its peers, timed in turn on one adapter, every result checked.
//!
//! The program starts itself anew for every case: a kernel that ends the process then ends one case only. `compare` reads
//! what it wrote and prints the ratios as Markdown.

mod adapter;
mod case;
mod compare;
mod conv;
mod cpu;
mod cubek;
mod error;
mod measure;
mod ours;
mod process;
mod rows;
mod run;
mod side;
mod strategy;
mod versions;

use case::{Case, Size, Type};
use clap::{Args, Parser, Subcommand};
use error::Result;
use std::path::PathBuf;
use std::process::ExitCode;
use strategy::Choice;

/// Times matrix products of Tilewise, of CubeK and of the crate gemm in turn, on the adapter that Tilewise opens.
///
/// Every result is checked against f64 before it is timed. CubeK runs with the strategy that it chooses itself, and with
/// the one that --strategy names. Built with `--features spirv`, it compiles to SPIR-V, without it to WGSL.
#[derive(Parser)]
#[command(name = "peers", args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    options: Options,
}

#[derive(Subcommand)]
enum Command {
    /// Times convolutions of Tilewise, and of each algorithm of CubeK in turn
    Conv(conv::Options),
    /// Prints the ratios of measured cases as Markdown tables
    Compare {
        /// JSON lines that `peers --json`, `peers conv --json` or `torch_gemm.py` wrote
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Measures one case in this process and prints one JSON line
    #[command(hide = true)]
    Case {
        size: Size,
        #[arg(value_enum)]
        dtype: Type,
        #[arg(value_enum)]
        strategy: Option<strategy::Strategy>,
        #[arg(long, default_value_t = 15)]
        rounds: usize,
    },
    /// Measures one convolution in this process and prints one JSON line
    #[command(hide = true)]
    ConvCase(conv::Case),
}

/// What is measured.
#[derive(Args)]
struct Options {
    /// Sizes, separated by commas: N for a cube, or MxNxK for A (M, K) and B (K, N).
    ///
    /// By default 64,128,256,512,1024,64x1024x4096,64x4096x1024 on a software device and 1024,4096,8192 on a GPU.
    #[arg(long, value_delimiter = ',', value_name = "SIZES")]
    sizes: Vec<Size>,
    /// Types of the operands; all products are f32
    #[arg(long, value_enum, value_delimiter = ',', value_name = "TYPES", default_values = ["f32", "f16"])]
    dtypes: Vec<Type>,
    /// CubeK's strategy next to its own choice; `all` tries each, in a process of its own
    #[arg(long, value_enum, default_value = "simple_unit_max")]
    strategy: Choice,
    /// Rounds, in each of which every side is timed once
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..=1000))]
    rounds: u64,
    /// Seconds after which a case is given up
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..))]
    limit: u64,
    /// Appends one JSON line for each case to this file as soon as the case is measured
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match arguments.command {
        Some(Command::Compare { files }) => compare::print(&files),
        Some(Command::Case { size, dtype, strategy, rounds }) => {
            measure::print(Case { size, dtype, strategy }, rounds)
        }
        Some(Command::Conv(options)) => conv::run(&options),
        Some(Command::ConvCase(case)) => conv::print(&case),
        None => run::run(&arguments.options),
    };
    ended(done)
}

/// The exit status: 1 if something was wrong, with a message on stderr.
fn ended(done: Result<()>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("peers: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn bad_arguments_are_named() {
        for (argument, value, said) in [
            ("--sizes", "12x", "`12x` is neither N nor MxNxK"),
            ("--sizes", "0", "every extent must be at least 1"),
            ("--sizes", "9999999999x9999999999x2", "too large"),
            ("--dtypes", "f64", "possible values: f32, f16"),
            ("--strategy", "best", "invalid value 'best'"),
            ("--rounds", "0", "0 is not in 1..=1000"),
        ] {
            let error =
                Arguments::try_parse_from(["peers", argument, value]).err().map(|error| error.to_string());
            let error = error.unwrap_or_default();
            assert!(error.contains(said) && error.contains(argument), "{argument} {value}: {error}");
        }
    }

    #[test]
    fn options_have_the_documented_defaults() {
        let options = Arguments::try_parse_from(["peers"]).map(|arguments| arguments.options);
        let options = options.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(options.dtypes, [Type::F32, Type::F16]);
        assert!(options.sizes.is_empty() && options.json.is_none());
        assert_eq!(options.strategy.strategies(), [Some(strategy::Strategy::SimpleUnitMax)]);
    }
}
