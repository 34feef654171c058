//! Code that the examples share.
#![allow(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "names say enough to the examples, its only users"
)]

pub mod dtype;
pub mod operands;
pub mod report;
pub mod size;

use serde_json::Value;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tilewise::gemm::GemmKernel;
use tilewise::{Plan, Result};

/// The exit status of an example: success only if everything that was checked is within its bound. Prints an error.
pub fn ended(within_bounds: Result<bool>) -> ExitCode {
    match within_bounds {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The path of a file among the examples' data: in the checkout that `TILEWISE_ROOT` names, or else in that from which the
/// example was built.
pub fn data(file: &str) -> PathBuf {
    let built_from = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::env::var_os("TILEWISE_ROOT").map_or_else(built_from, PathBuf::from).join("examples/data").join(file)
}

/// Prints the report, as JSON or as text, and returns the exit status of the example.
pub fn reported<R: fmt::Display>(
    report: Result<R>,
    as_json: bool,
    json: fn(&R) -> Value,
    ok: fn(&R) -> bool,
) -> ExitCode {
    ended(report.map(|report| {
        if as_json {
            println!("{}", json(&report));
        } else {
            print!("{report}");
        }
        ok(&report)
    }))
}

/// The name of a plan's main kernel: that of the step with the longest predicted time.
pub fn chosen_kernel(plan: &Plan) -> String {
    let longest = plan.steps().iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let Some(step) = longest else { return "nothing".to_owned() };
    GemmKernel::of_step(step).map_or_else(|| step.kernel.shader().to_owned(), |kernel| kernel.to_string())
}

/// A number with three significant digits: `0.0123`, `1.23`, `12300`.
pub fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let digits = (2.0 - value.abs().log10().floor()).clamp(0.0, 12.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 12")]
    let digits = digits as usize;
    format!("{value:.digits$}")
}

/// The numbers of `SplitMix64` (Steele, Lea and Flood, 2014), starting from this seed.
pub fn splitmix(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
