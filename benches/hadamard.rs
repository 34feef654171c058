//! Hadamard operators against a copy of their operand, in turns and in one run. One JSON object per line.
//!
//! - `TILEWISE_SIZES=4096` sets how long the transform is; the other axis is a quarter of that.

#[path = "roof/mod.rs"]
mod roof;
mod support;

use roof::Copier;
use serde_json::json;
use std::process::ExitCode;
use support::contest::{Contest, Side, TOGETHER};
use tilewise::sketch::{HadamardProblem, Sketch, SketchKind, Way, plan_hadamard};
use tilewise::{DType, Fill, Gpu, Real, Result, f16};

/// Rounds, in each of which both sides take their turn.
const ROUNDS: usize = 15;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let Some(gpu) = support::open()? else {
        println!("{}", json!({ "skipped": "no adapter" }));
        return Ok(());
    };
    // `cargo bench -- --test` asks whether it works, not for figures.
    let testing = std::env::args().any(|argument| argument == "--test");
    for size in if testing { vec![64] } else { support::sizes(&[4096])? } {
        hadamard(&gpu, size, if testing { 1 } else { ROUNDS })?;
    }
    Ok(())
}

/// The transform of every column and of every row of a matrix, forward to a quarter of as many and back, against a copy of
/// the operand.
fn hadamard(gpu: &Gpu, size: usize, rounds: usize) -> Result<()> {
    for axis in [0, 1] {
        for way in [Way::Forward, Way::Adjoint] {
            hadamard_of::<f32>(gpu, way, axis, size, rounds)?;
        }
    }
    hadamard_of::<f16>(gpu, Way::Forward, 0, size, rounds)
}

fn hadamard_of<T: Real>(gpu: &Gpu, way: Way, axis: usize, size: usize, rounds: usize) -> Result<()> {
    let (d, others) = (size / 4, size / 4);
    let s = Sketch::new(SketchKind::Hadamard, [d, size], 1)?;
    let from = if way == Way::Forward { size } else { d };
    let x = gpu.random::<T>(if axis == 0 { [from, others] } else { [others, from] }, Fill::Uniform, 2)?;
    let passes = HadamardProblem::new(&s, way, x.layout(), axis, T::DTYPE)?.passes(gpu.caps());
    let own = Side::launches(gpu, &plan_hadamard(&passes[0], gpu.caps())?, TOGETHER, |_| match way {
        Way::Forward => s.apply(&x, axis).map(drop),
        Way::Adjoint => s.adjoint(&x, axis).map(drop),
    })?;
    // The longer of operand and result.
    let bytes = ((size * others * size_of::<T>()) as u64).next_multiple_of(1024);
    let copier = Copier::new(gpu, bytes);
    let form = format!("{way:?}, axis {axis}, {} passes", passes.len());
    let (size, types) = ([d, others, size], [T::DTYPE, DType::F32]);
    let contest = Contest { case: "hadamard", form: &form, against: "a copy", size, types };
    contest.run(gpu, rounds, own, Side::other(move || copier.seconds(gpu)))
}
