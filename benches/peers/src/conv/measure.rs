//! Measures one convolution: all sides on the same values, in turn, for some rounds.

use super::Case;
use super::algorithm;
use super::cubek::Convolutions;
use super::definition::Definition;
use super::ours::Ours;
use super::rows::{ConvRow, Stopped};
use crate::adapter;
use crate::case::Type;
use crate::cubek::CubeK;
use crate::error::{Error, Result};
use crate::rows::About;
use crate::side::Side;
use bench::file::FileError;
use bench::paired::slowest_step;
use bench::peak;
use bench::statistics::median;
use bench::turns::Turns;
use serde_json::json;
use std::fs;
use std::time::Instant;
use tilewise::{Real, f16};

/// Seconds after which no other round begins, once there are enough.
const CASE_SECONDS: f64 = 40.0;
const MIN_ROUNDS: usize = 5;
/// Seconds that one timing on the device's clock should take.
const ENOUGH: f64 = 0.01;

/// Measures a case and prints one JSON line: its row, or the side after which the device no longer worked.
pub(crate) fn print(case: &Case) -> Result<()> {
    let ended = match case.dtype {
        Type::F32 => measure::<f32>(case),
        Type::F16 => measure::<f16>(case),
    }?;
    match ended {
        Ok(row) => println!("{}", json!(row)),
        Err(stopped) => println!("{}", json!(stopped)),
    }
    Ok(())
}

fn measure<T: Real>(case: &Case) -> Result<Result<ConvRow, Stopped>> {
    let Case { shape, dtype, rounds, without, trace } = case;
    let gpu = adapter::open()?;
    let cubek = CubeK::on_adapter_of(&gpu)?;
    let definition = Definition::<T>::new(shape)?;
    let bytes = size_of_val(&definition.uniform.x[..]) + size_of_val(&definition.uniform.weight[..]);
    let sets = Turns::of(&gpu, bytes).sets(|| Ok(()))?.len();
    let ours = Ours::new(&gpu, shape, &definition, sets)?;
    let theirs = Convolutions::new(&cubek, shape, *dtype, &definition, sets);

    let before = peak::measure(&gpu)?;
    let mut sides = vec![ours.side(&definition)];
    let tried = |name: &str| {
        // Whoever started this process reads it if the side ends the process.
        fs::write(trace, name).map_err(FileError::of("write", trace))?;
        Ok::<bool, Error>(!without.iter().any(|other| other == name))
    };
    for algorithm in algorithm::of(shape) {
        let name = algorithm.to_string();
        if tried(&name)? {
            sides.push(theirs.algorithm(algorithm, &definition));
            if let Some(stopped) = stopped(&cubek, sides.last(), &name) {
                return Ok(Err(stopped));
            }
        }
    }
    fs::write(trace, "").map_err(FileError::of("write", trace))?;

    let mut on_device = Vec::new();
    let start = Instant::now();
    for round in 0..*rounds {
        if round >= MIN_ROUNDS && start.elapsed().as_secs_f64() > CASE_SECONDS {
            break;
        }
        // Another side begins each round: what the one before leaves in caches and queues meets every side.
        let count = sides.len();
        (0..count).for_each(|at| sides[(round + at) % count].round());
        if let Some(once) = sides[0].seconds().last().filter(|_| gpu.caps().timestamps) {
            on_device.push(ours.device_seconds(*once, ENOUGH)?);
        }
    }
    let peaks = before.or_higher(peak::measure(&gpu)?);

    let rounds_of_ours = sides[0].seconds().to_vec();
    let caps = gpu.caps();
    Ok(Ok(ConvRow {
        device: caps.adapter.clone(),
        driver: caps.driver.clone(),
        compiler: cubek.compiler().into(),
        about: About::default(),
        convolution: shape.clone(),
        dtype: *dtype,
        operand_sets: sets,
        peak_flops: peaks.f32,
        peak_bytes: peaks.copy,
        device_seconds: median(&on_device),
        plan: slowest_step(&ours.of_turn(0).plan()?).unwrap_or_default(),
        sides: sides.iter().map(|side| side.row(shape.flops(), &rounds_of_ours)).collect(),
    }))
}

/// Says so if the peer's device works no longer, after a side that failed: nothing that follows would be the fault of others.
fn stopped(cubek: &CubeK, side: Option<&Side<'_>>, name: &str) -> Option<Stopped> {
    let error = side?.error()?;
    if cubek.works() { None } else { Some(Stopped { stopped: name.into(), error }) }
}
