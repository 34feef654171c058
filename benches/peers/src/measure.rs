//! Measures one case: all sides on the same values, in turn, for some rounds.

use crate::adapter;
use crate::case::{Case, Type};
use crate::cpu;
use crate::cubek::{CubeK, Operands};
use crate::error::Result;
use crate::ours::Ours;
use crate::rows::{About, CaseRow};
use bench::definition::Definition;
use bench::paired::{pairs, slowest_step};
use bench::peak;
use bench::statistics::median;
use serde_json::json;
use std::time::Instant;
use tilewise::{Fill, Real, f16};

/// Seconds after which no other round begins, once there are enough.
const CASE_SECONDS: f64 = 20.0;
const MIN_ROUNDS: usize = 3;
/// Multiply-adds up to which every entry is checked.
const FULL_CHECK: u64 = 1 << 27;
/// Seconds that one timing on the device's clock should take.
const ENOUGH: f64 = 0.01;

/// Measures a case and prints one JSON line.
pub(crate) fn print(case: Case, rounds: usize) -> Result<()> {
    let row = match case.dtype {
        Type::F32 => measure::<f32>(case, rounds),
        Type::F16 => measure::<f16>(case, rounds),
    }?;
    println!("{}", json!(row));
    Ok(())
}

fn measure<T: Real>(case: Case, rounds: usize) -> Result<CaseRow> {
    let Case { size, dtype, .. } = case;
    let gpu = adapter::open()?;
    let cubek = CubeK::on_adapter_of(&gpu)?;
    let (a, b) =
        (Fill::Uniform.values::<T>(size.m * size.k, 1), Fill::Uniform.values::<T>(size.k * size.n, 2));
    let definition = Definition::new(&a, &b, size.array(), FULL_CHECK);
    let ours = Ours::<T> { gpu: &gpu, pairs: pairs(&gpu, size.array())? };
    let pairs = ours.pairs.len();
    let operands = Operands { a: bytemuck::cast_slice(&a), b: bytemuck::cast_slice(&b), pairs };

    let before = peak::measure(&gpu)?;
    let mut sides = vec![ours.side(size, &definition), cubek.auto(case, &operands, &definition)];
    sides.extend(cubek.named(case, &operands, &definition));
    sides.push(cpu::side([&a, &b], size, pairs, &definition));
    let mut on_device = Vec::new();
    let start = Instant::now();
    for round in 0..rounds {
        if round >= MIN_ROUNDS && start.elapsed().as_secs_f64() > CASE_SECONDS {
            break;
        }
        // Another side begins each round: what the one before leaves in caches and queues meets every side.
        let count = sides.len();
        (0..count).for_each(|at| sides[(round + at) % count].round());
        if let Some(once) = sides[0].seconds().last().filter(|_| gpu.caps().timestamps) {
            on_device.push(ours.device_seconds(size, *once, ENOUGH)?);
        }
    }
    let peaks = before.or_higher(peak::measure(&gpu)?);

    let rounds_of_ours = sides[0].seconds().to_vec();
    let caps = gpu.caps();
    Ok(CaseRow {
        device: caps.adapter.clone(),
        driver: caps.driver.clone(),
        compiler: cubek.compiler().into(),
        about: About::default(),
        size,
        dtype,
        out_dtype: Type::F32,
        layout: "nn".into(),
        operand_pairs: pairs,
        peak_flops: peaks.f32,
        peak_bytes: peaks.copy,
        device_seconds: median(&on_device),
        plan: slowest_step(&ours.product(0).plan()?).unwrap_or_default(),
        sides: sides.iter().map(|side| side.row(size.flops(), &rounds_of_ours)).collect(),
    })
}
