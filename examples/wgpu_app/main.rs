//! An application with a wgpu device of its own draws pictures with a neural network, inside its frames.
//!
//! ```sh
//! cargo run --release --example wgpu_app
//! cargo run --release --example wgpu_app -- --frames 60 --size 960x540 --seed 3 --out pictures
//! cargo run --release -p tilewise-window    # the same frames in a window
//! ```
//! A frame is one encoder of the application with three parts: a compute pass of the application writes every pixel's
//! place and the time into a buffer, the network turns them into colours in another buffer, and a render pass of the
//! application paints these. The application submits it once; the library submits nothing, copies nothing and waits for
//! nothing, which its counters must confirm. The exit status is 0 only if, in addition, every checked value of every
//! layer and every checked pixel is within its bound of the definition in f64, frames in flight have the same bits as
//! frames alone, and neither wgpu nor a validation layer (`WGPU_VALIDATION=1`) reported an error.

mod application;
mod check;
mod network;
mod offscreen;
mod options;
mod report;
mod scene;

use application::faults;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use options::{Type, size};
use report::Report;
use std::path::PathBuf;
use std::process::ExitCode;
use support::reported;
use tilewise::f16;

/// Draws pictures with a neural network that runs inside the frames of a wgpu application.
#[derive(Parser)]
#[command(after_help = "In a window: cargo run --release -p tilewise-window")]
struct Args {
    /// Number of frames of one period
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=9999), default_value_t = 8)]
    frames: u32,
    /// Size of the pictures
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "640x360", value_parser = size)]
    size: [u32; 2],
    /// Writes each picture as a PNG file into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The seed of the network's weights
    #[arg(long, default_value_t = 14)]
    seed: u64,
    /// Type of the network's weights and hidden values
    #[arg(long, value_enum, default_value_t = Type::F16)]
    dtype: Type,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    json: bool,
    /// Says how to see the frames in a window, which is a package of its own
    #[arg(long)]
    window: bool,
}

/// Ends with what to run for a window. This program has none, so that no other example has to build winit.
fn refer_to_window() -> ! {
    let why =
        "the frames in a window are the package `tilewise-window`: cargo run --release -p tilewise-window";
    Args::command().bin_name("wgpu_app").error(ErrorKind::InvalidValue, format!("--window: {why}")).exit()
}

fn main() -> ExitCode {
    let args = Args::parse();
    if args.window {
        refer_to_window();
    }
    faults::listen();
    let out = args.out.as_deref();
    let report = match args.dtype {
        Type::F16 => offscreen::run::<f16>(args.size, args.frames, args.seed, out),
        Type::F32 => offscreen::run::<f32>(args.size, args.frames, args.seed, out),
    };
    reported(report, args.json, Report::json, Report::ok)
}
