//! All benches, and the short examples, in one program: it is the one that its name says, as `benches/ops` or `examples/info`.
//!
//! Each of them links the whole library, so that packed one by one for a machine with a GPU they would be three times as
//! large as this program and links to it (`benches/on_gpu`).

#[path = "attention.rs"]
mod attention;
#[path = "clifford.rs"]
mod clifford;
#[path = "clifford_layers.rs"]
mod clifford_layers;
#[path = "connected.rs"]
mod connected;
#[path = "conv.rs"]
mod conv;
#[path = "windows.rs"]
mod windows;

#[path = "../examples/gemm.rs"]
mod example_gemm;
#[path = "../examples/info.rs"]
mod example_info;
#[path = "../examples/tune.rs"]
mod example_tune;
#[path = "factor.rs"]
mod factor;
#[path = "first_result.rs"]
mod first_result;
#[path = "gemm.rs"]
mod gemm;
#[path = "host.rs"]
mod host;
#[path = "norms.rs"]
mod norms;
#[path = "ops.rs"]
mod ops;
#[path = "rows.rs"]
mod rows;
#[path = "sketch.rs"]
mod sketch;
#[path = "sketched_layer.rs"]
mod sketched_layer;
#[path = "staging.rs"]
mod staging;
#[path = "tiles.rs"]
mod tiles;
#[path = "variants.rs"]
mod variants;

use std::path::Path;
use std::process::{ExitCode, Termination};

/// Starts a program, whose exit status it returns.
type Start = fn() -> ExitCode;

/// Names, and what they start.
const PROGRAMS: &[(&str, Start)] = &[
    ("benches/attention", || attention::main().report()),
    ("benches/clifford", || clifford::main().report()),
    ("benches/clifford_layers", || clifford_layers::main().report()),
    ("benches/connected", || connected::main().report()),
    ("benches/conv", || conv::main().report()),
    ("benches/factor", || factor::main().report()),
    ("benches/first_result", || first_result::main().report()),
    ("benches/gemm", || gemm::main().report()),
    ("benches/host", || {
        host::main();
        ExitCode::SUCCESS
    }),
    ("benches/norms", || norms::main().report()),
    ("benches/ops", || ops::main().report()),
    ("benches/rows", || rows::main().report()),
    ("benches/sketch", || sketch::main().report()),
    ("benches/sketched_layer", || sketched_layer::main().report()),
    ("benches/staging", || staging::main().report()),
    ("benches/tiles", || tiles::main().report()),
    ("benches/variants", || variants::main().report()),
    ("benches/windows", || windows::main().report()),
    ("examples/gemm", || example_gemm::main().report()),
    ("examples/info", || example_info::main().report()),
    ("examples/tune", || example_tune::main().report()),
];

fn main() -> ExitCode {
    let called = std::env::args_os().next().unwrap_or_default();
    match PROGRAMS.iter().find(|(name, _)| Path::new(&called).ends_with(name)) {
        Some((_, start)) => start(),
        None => {
            println!("called by a link to it, this is one of:");
            PROGRAMS.iter().for_each(|(name, _)| println!("  {name}"));
            ExitCode::SUCCESS
        }
    }
}
