//! Attention. One JSON object per line; the exit status says whether everything ran. `m` are the queries, `n` the keys, `k` the head dim.
//!
//! - Whole attention, timed in turn with its two products and its softmax as three launches.
//! - One query against many keys, timed in turn with a copy that moves as many bytes.
//!
//! `TILEWISE_SIZES=1024` sets the lengths, `TILEWISE_ONLY=whole,decode` selects.

mod support;

use std::process::ExitCode;
use support::paired::{self, Paired, Side, TOGETHER};
use support::{ByDevice, Session};
use tilewise::planning::Problem;
use tilewise::planning::attention::{
    AttentionLayouts, AttentionProblem, AttentionRange, AttentionStatistics,
};
use tilewise::{
    AttentionOptions, CausalFrom, Fill, Gpu, Operand, Plan, Real, Result, Tensor, attention, f16, matmul, ops,
};

/// Lengths.
const SIZES: ByDevice<&[usize]> = ByDevice { software: &[1024], gpu: &[1024, 4096] };
/// Heads.
const HEADS: usize = 8;

fn main() -> ExitCode {
    support::main(|session| {
        for length in session.sizes(33, &SIZES)? {
            for dim in [64, 128] {
                whole::<f32>(&session, length, dim, None)?;
            }
            whole::<f32>(&session, length, 64, Some(CausalFrom::TopLeft))?;
            whole::<f16>(&session, length, 64, None)?;
            decode::<f32>(&session, 4 * length, 64)?;
            decode::<f16>(&session, 4 * length, 64)?;
        }
        Ok(true)
    })
}

/// Queries, keys and values.
type Triple<T> = [Tensor<T>; 3];

fn triple<T: Real>(gpu: &Gpu, queries: usize, keys: usize, dim: usize) -> Result<Triple<T>> {
    let of = |length, seed| gpu.random::<T>([1, HEADS, length, dim], Fill::Uniform, seed);
    Ok([of(queries, 1)?, of(keys, 2)?, of(keys, 3)?])
}

fn plan<T: Real>(gpu: &Gpu, [q, k, v]: &Triple<T>, causal: Option<CausalFrom>) -> Result<Plan> {
    let layouts = AttentionLayouts {
        q: q.layout(),
        k: k.layout(),
        v: v.layout(),
        bias: None,
        lengths: None,
        keep: None,
        slopes: None,
    };
    let range = AttentionRange { causal, ..AttentionRange::default() };
    AttentionProblem::new(layouts, range, AttentionStatistics::None, T::DTYPE)?.plan(gpu.caps())
}

/// Attention, and its parts one by one.
fn whole<T: Real + Operand<Sum = f32>>(
    session: &Session,
    length: usize,
    dim: usize,
    causal: Option<CausalFrom>,
) -> Result<()> {
    let variant = if causal.is_some() { "whole, causal" } else { "whole" };
    if !session.wants(variant) {
        return Ok(());
    }
    let gpu = &session.gpu;
    let bytes = 4 * HEADS * length * dim * size_of::<T>();
    let triples = paired::repeated(gpu, bytes, || triple::<T>(gpu, length, length, dim))?;
    let plan = plan(gpu, &triples[0], causal)?;
    let options = AttentionOptions::new();
    let options = causal.map_or(options, |causal| options.causal(causal));
    let own = Side::launches(gpu, &plan, TOGETHER, |at| {
        let [q, k, v] = &triples[at % triples.len()];
        attention(q, k, v, &options).map(drop)
    })?;
    let parts = Side::launches(gpu, &plan, TOGETHER, |at| {
        let [q, k, v] = &triples[at % triples.len()];
        let scores = matmul(q, &k.permute(&[0, 1, 3, 2])?)?;
        matmul(&ops::softmax(&scores, 3)?.cast::<T>()?, v).map(drop)
    })?;
    let baseline = "its products and its softmax";
    let (size, types) = ([length, length, dim], [T::DTYPE; 2]);
    Paired { case: "attention", variant, baseline, size, types }.run(session, own, parts)
}

/// One query against many keys.
fn decode<T: Real>(session: &Session, keys: usize, dim: usize) -> Result<()> {
    if !session.wants("decode") {
        return Ok(());
    }
    let gpu = &session.gpu;
    let bytes = 2 * HEADS * keys * dim * size_of::<T>();
    let triples = paired::repeated(gpu, bytes, || triple::<T>(gpu, 1, keys, dim))?;
    let plan = plan(gpu, &triples[0], None)?;
    let own = Side::launches(gpu, &plan, TOGETHER, |at| {
        let [q, k, v] = &triples[at % triples.len()];
        attention(q, k, v, &AttentionOptions::new()).map(drop)
    })?;
    let copy = Side::lower_bound(gpu, bytes, 0.0);
    let (size, types) = ([1, keys, dim], [T::DTYPE; 2]);
    let baseline = "a copy of as many bytes";
    Paired { case: "attention", variant: "decode", baseline, size, types }.run(session, own, copy)
}
