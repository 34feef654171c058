//! A stream of frames goes through a small network on the device, which is captured once and replayed for each frame.
//!
//! ```sh
//! cargo run --release --example frames
//! cargo run --release --example frames -- --frames 120 --size 640x360 --seed 3 --out pictures
//! cargo run --release --example frames -- --input video.rgb --size 640x360   # raw RGB, three bytes for each pixel
//! cargo run --release --example frames -- --large   # what a large network would cost, on devices that are not here
//! ```
//! The network sees the 3 x 3 neighbours of each pixel, by a convolution with batch norm and `SiLU` in one launch, and computes a new
//! colour in five launches. All frames are computed twice, in turns of a few frames: by a [`tilewise::gpu::Replay`], and by the same
//! calls without one. The read of a frame is awaited only after the next frame has been recorded. The exit status is 0 only if both
//! have the same bits, every checked value is within its bound of the definition in f64, and a replayed frame neither creates a
//! buffer nor prepares a plan, as the counters of [`tilewise::Gpu::stats`] show.
//!
//! The time of the host is that within the library's calls, the driver's included. A software driver computes within
//! submissions; there, only the launches of small frames, such as 64x36, are the library's own time.

mod check;
mod film;
mod large;
mod network;
mod pattern;
mod planned;
mod report;
mod source;
mod unet;

use clap::Parser;
use large::Large;
use pictures::picture::{size, unwritable};
use report::Report;
use source::Source;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use support::reported;
use tilewise::{Error, Result};

/// Largest width and height of a frame.
const MAX_SIDE: u32 = 4096;
/// The size of the frames of the pattern, if none is given.
const SIZE: [u32; 2] = [320, 180];
/// The number of frames of the pattern, if none is given.
const FRAMES: u32 = 48;

/// Sends a stream of frames through a network that is captured once and replayed for each frame.
#[derive(Parser)]
struct Args {
    /// A file of raw RGB frames, three bytes for each pixel; without it, a moving pattern
    #[arg(long, value_name = "FILE", requires = "size")]
    input: Option<PathBuf>,
    /// Size of the frames: by default 320x180
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = size::<MAX_SIDE>)]
    size: Option<[u32; 2]>,
    /// Number of frames: by default 48, or all that the file contains
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=99_999))]
    frames: Option<u32>,
    /// The seed of the network's weights and of the pattern
    #[arg(long, default_value_t = 3)]
    seed: u64,
    /// Checks every N-th frame against the definition in f64
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), default_value_t = 12)]
    check: u32,
    /// Writes each computed frame as a PNG file into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Says what a U-Net of 880 million parameters would cost on devices that are not here, and ends
    #[arg(long, conflicts_with_all = ["input", "size", "frames", "seed", "check", "out"])]
    large: bool,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

/// Opens the input and the folder of the output.
fn open(args: &Args) -> Result<Source> {
    let size = args.size.unwrap_or(SIZE);
    let source = match &args.input {
        Some(path) => Source::file(path, size, args.frames)?,
        None => Source::pattern(args.seed, size, args.frames.unwrap_or(FRAMES)),
    };
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
        let first = picture(folder, 0);
        File::create(&first).map_err(|error| unwritable(&first, &error))?;
    }
    Ok(source)
}

/// The file of a frame.
fn picture(folder: &Path, index: u32) -> PathBuf {
    folder.join(format!("frame-{index:05}.png"))
}

fn main() -> ExitCode {
    let args = Args::parse();
    if args.large {
        return reported(large::plan(), args.json, Large::json, |_| true);
    }
    let source = match open(&args) {
        Ok(source) => source,
        Err(error) => {
            let why = match error {
                Error::Input { what, why } => format!("{what}: {why}"),
                error => error.to_string(),
            };
            eprintln!("error: {why}");
            return ExitCode::from(2);
        }
    };
    let report = film::run(source, args.seed, args.check, args.out.as_deref());
    reported(report, args.json, Report::json, Report::ok)
}
