//! Attention. One JSON object per line; the exit status says whether everything ran. `m` are the queries, `n` the keys, `k` the head dim.
//!
//! - Whole attention, timed in turn with its two products and its softmax as three launches.
//! - Its gradients, timed in turn with their five products, a softmax and its gradient.
//! - One query against many keys, timed in turn with a copy that moves as many bytes.
//!
//! `TILEWISE_SIZES=1024` sets the lengths, `TILEWISE_ONLY=whole,backward,decode` selects.

use bench::paired::{Paired, Side, TOGETHER};
use bench::turns::Turns;
use bench::{ByDevice, Session};
use std::process::ExitCode;
use tilewise::attention::{AttentionOptions, CausalFrom, attention, attention_backward, attention_with_lse};
use tilewise::gemm::Operand;
use tilewise::planning::Problem;
use tilewise::planning::attention::{
    AttentionBackward, AttentionGradientsOf, AttentionLayouts, AttentionProblem, AttentionRange,
    AttentionStatistics,
};
use tilewise::{DType, Fill, Gpu, Real, Result, Tensor, f16, matmul, ops};

/// Lengths.
const SIZES: ByDevice<&[usize]> = ByDevice { software: &[1024], gpu: &[1024, 4096] };
/// Passes backward that are timed together: where sums are split, their parts take a dozen launches, and 63 can be timed.
const FEW: u64 = 4;
/// Heads.
const HEADS: usize = 8;

pub(crate) fn main() -> ExitCode {
    bench::main(|session| {
        for length in session.sizes(33, &SIZES)? {
            for dim in [64, 128] {
                whole::<f32>(&session, length, dim, None)?;
            }
            whole::<f32>(&session, length, 64, Some(CausalFrom::TopLeft))?;
            whole::<f16>(&session, length, 64, None)?;
            backward(&session, length, 64)?;
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

fn problem<T: Real>([q, k, v]: &Triple<T>, causal: Option<CausalFrom>) -> Result<AttentionProblem> {
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
    AttentionProblem::new(layouts, range, AttentionStatistics::None, T::DTYPE)
}

/// Attention, and its parts one by one.
fn whole<T: Real + Operand<Sum = f32>>(
    session: &Session,
    length: usize,
    dim: usize,
    causal: Option<CausalFrom>,
) -> Result<()> {
    let variant = if causal.is_some() { "whole, causal" } else { "whole" };
    if !bench::wants(variant) {
        return Ok(());
    }
    let gpu = &session.gpu;
    let bytes = 4 * HEADS * length * dim * size_of::<T>();
    let triples = Turns::of(gpu, bytes).sets(|| triple::<T>(gpu, length, length, dim))?;
    let plan = problem(&triples[0], causal)?.plan(gpu.caps())?;
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

/// The gradients of attention, and their parts one by one.
fn backward(session: &Session, length: usize, dim: usize) -> Result<()> {
    if !bench::wants("backward") {
        return Ok(());
    }
    let gpu = &session.gpu;
    let bytes = 8 * HEADS * length * dim * size_of::<f32>();
    let options = AttentionOptions::new();
    let known = Turns::of(gpu, bytes).sets(|| {
        let [q, k, v] = triple::<f32>(gpu, length, length, dim)?;
        let (y, lse) = attention_with_lse(&q, &k, &v, &options)?;
        let grad = gpu.random::<f32>(y.shape(), Fill::Uniform, 4)?;
        Ok(([q, k, v], y, lse, grad))
    })?;
    let (triple, y, lse, grad) = &known[0];
    let of = AttentionGradientsOf::Operands;
    let rows = [y.layout(), lse.layout(), grad.layout()];
    let plan = AttentionBackward::new(problem(triple, None)?, rows, of)?.plan(gpu.caps())?;
    let own = Side::launches(gpu, &plan, FEW, |at| {
        let ([q, k, v], y, lse, grad) = &known[at % known.len()];
        attention_backward(q, k, v, y, lse, grad, &options).map(drop)
    })?;
    let parts = Side::launches(gpu, &plan, FEW, |at| {
        let ([q, k, v], _, _, grad) = &known[at % known.len()];
        let turned = |of: &Tensor<f32>| of.permute(&[0, 1, 3, 2]);
        let weights = ops::softmax(&matmul(q, &turned(k)?)?, 3)?;
        matmul(&turned(&weights)?, grad)?;
        let of_scores = ops::softmax_backward(&weights, &matmul(grad, &turned(v)?)?, 3)?;
        matmul(&of_scores, k)?;
        matmul(&turned(&of_scores)?, q).map(drop)
    })?;
    let baseline = "its products, its softmax and that one's gradient";
    let (size, types) = ([length, length, dim], [DType::F32; 2]);
    Paired { case: "attention", variant: "backward", baseline, size, types }.run(session, own, parts)
}

/// One query against many keys.
fn decode<T: Real>(session: &Session, keys: usize, dim: usize) -> Result<()> {
    if !bench::wants("decode") {
        return Ok(());
    }
    let gpu = &session.gpu;
    let bytes = 2 * HEADS * keys * dim * size_of::<T>();
    let triples = Turns::of(gpu, bytes).sets(|| triple::<T>(gpu, 1, keys, dim))?;
    let plan = problem(&triples[0], None)?.plan(gpu.caps())?;
    let own = Side::launches(gpu, &plan, TOGETHER, |at| {
        let [q, k, v] = &triples[at % triples.len()];
        attention(q, k, v, &AttentionOptions::new()).map(drop)
    })?;
    let copy = Side::lower_bound(gpu, bytes, 0.0);
    let (size, types) = ([1, keys, dim], [T::DTYPE; 2]);
    let baseline = "a copy of as many bytes";
    Paired { case: "attention", variant: "decode", baseline, size, types }.run(session, own, copy)
}
