//! A small convolutional network, trained on handwritten digits in colour, in f32, f16 and bf16, with matrix units and without.
//!
//! ```sh
//! cargo run --release --example classify
//! cargo run --release --example classify -- --frames 449 --batch 64 --out digits.png
//! cargo run --release --example classify -- --json
//! ```
//! A frame is 64 x 64 pixels of three colours: a digit that the network was not trained on, enlarged, slanted and coloured, on
//! noisy paper. Each of 14 convolutions is one launch with its batch norm, its activation and its residual; three of them are
//! depthwise, and some have 67 or 129 channels, which no kernel pads in memory. The network is captured once for each row of the
//! table and replayed for each batch. A row says how long a frame takes with its upload and the read of its outputs, what weights
//! and activations take, which share of the operations runs on matrix units, and how exact the outputs are. The exit status is 0
//! only if every row is right: every value of two frames is within its bound of the definition in f64, the outputs are those
//! of PyTorch in f64 within a tolerance, and at least 90 % of the digits are recognised.
//!
//! The weights and the script that trained them are in `examples/data`.

mod check;
#[path = "../digits.rs"]
mod digits;
mod network;
mod pictures;
mod report;
mod rows;
mod sheet;

use ::pictures::picture::unwritable;
use clap::Parser;
use report::Report;
use rows::{Pictures, rows};
use std::fs::File;
use std::path::PathBuf;
use std::process::ExitCode;
use support::reported;
use tilewise::io::Safetensors;
use tilewise::{Error, Gpu, Result};

/// Recognises handwritten digits in colour by a convolutional network, in each type.
#[derive(Parser)]
struct Args {
    /// Number of frames: held-out digits
    #[arg(long, value_name = "N", default_value_t = 128)]
    frames: usize,
    /// Frames that are computed at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), default_value_t = 32)]
    batch: u16,
    /// The folder of `digits.csv.gz` and `classifier.safetensors`: by default `examples/data` of the repository
    #[arg(long, default_value_os_t = support::data(""), hide_default_value = true)]
    data: PathBuf,
    /// Writes the first frames as a PNG file, with their classes and what was found
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    reported(run(&args), args.json, Report::json, Report::ok)
}

fn run(args: &Args) -> Result<Report> {
    let digits = digits::held_out(&args.data.join("digits.csv.gz"))?;
    let Some(digits) = digits.get(..args.frames).filter(|digits| !digits.is_empty()) else {
        let why = format!("must be 1 to {}, the held-out digits", digits.len());
        return Err(Error::Input { what: format!("--frames {}", args.frames), why });
    };
    let file = Safetensors::read(args.data.join("classifier.safetensors"))?;
    if let Some(path) = &args.out {
        File::create(path).map_err(|error| unwritable(path, &error))?;
    }
    let pictures = Pictures::of(digits);
    let gpu = Gpu::open()?;
    let batch = usize::from(args.batch);
    let rows = rows(&gpu, &file, &pictures, batch)?;
    let report = Report { gpu, pictures: digits.len(), batch, rows };
    if let Some(path) = &args.out {
        sheet::write(path, &pictures, report.found())?;
    }
    Ok(report)
}
