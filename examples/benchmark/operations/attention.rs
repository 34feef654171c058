//! Attention of 8 heads, without masks.

use crate::case::{Case, HEADS};
use crate::fits::{self, Patience};
use crate::planned::{self, check_time};
use crate::ready::{Checked, Ready, ran};
use crate::sample::Sample;
use tilewise::attention::{AttentionOptions, attention};
use tilewise::planning::Problem;
use tilewise::reference::AttentionReference;
use tilewise::{DType, Fill, Gpu, Plan, Real, Result, Tensor};

/// Makes an attention ready.
pub(super) fn ready<T: Real>(gpu: &Gpu, case: &Case, patience: Patience) -> Result<Ready> {
    let shape @ [queries, keys, dim] = case.shape;
    let lengths = [queries, keys, keys];
    let values = [0, 1, 2].map(|i| Fill::Uniform.values::<T>(HEADS * lengths[i] * dim, 1 + i as u64));
    let operand = |i: usize| gpu.tensor(&values[i], [1, HEADS, lengths[i], dim]);
    let turns = fits::turns(gpu, case)?;
    let triples = turns.sets(|| Ok([operand(0)?, operand(1)?, operand(2)?]))?;
    let [q, k, v] = triples[0].each_ref().map(Tensor::layout);
    let plan = planned::attention([q, k, v], T::DTYPE)?.plan(gpu.caps())?;
    check_time(&plan, patience)?;
    let run = |[q, k, v]: &[Tensor<T>; 3]| attention(q, k, v, &AttentionOptions::new());
    let (result, plan) = ran(gpu, plan, || run(&triples[0]))?;
    let checked = check(&values, &result.to_vec()?, weights(&plan), shape);
    Ready::new(gpu, plan, checked, turns, move |at| run(&triples[at % triples.len()]).map(drop))
}

/// The type to which the kernel rounds weights.
fn weights(plan: &Plan) -> DType {
    let is_coop = plan.steps().iter().any(|step| step.kernel.shader().contains("coop"));
    if is_coop { DType::F16 } else { DType::F32 }
}

/// Compares some queries of each head, or all, with their definition.
fn check<T: Real>(
    [q, k, v]: &[Vec<T>; 3],
    result: &[T],
    weights: DType,
    [queries, keys, dim]: [usize; 3],
) -> Checked {
    // Each query of each head takes two products of a row by the keys.
    let sample = Sample::new([queries, 2 * HEADS], keys.saturating_mul(dim));
    let picked = |of: &[T]| -> Vec<T> {
        of.chunks(queries * dim).flat_map(|head| sample.rows_of(head, dim)).collect()
    };
    let lengths = [sample.rows.len(), keys];
    let scale = 1.0 / (dim as f64).sqrt();
    let reference = AttentionReference::new([&picked(q), k, v], [1, HEADS, HEADS], lengths, [dim; 2], scale);
    let reference = AttentionReference { weights, ..reference };
    let name = match sample.name.as_str() {
        "full" => sample.name.clone(),
        _ => format!("{} entries", HEADS * lengths[0] * dim),
    };
    Checked { name, found: reference.attention().compare(&picked(result)) }
}
