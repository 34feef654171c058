//! A cache whose position is in a tensor: one captured step serves every position.

use super::decode::{BATCH, LENGTH, Pass, rows};
use super::{BlockForm, Form, ODD, block_definition, causal, definition};
use std::ops::Range;
pub(super) use support::operand::bits;
use tilewise::attention::{
    AttentionOptions, BlockNorm, CausalFrom, FeedForward, KeyValueCache, NormPosition,
};
use tilewise::reference::Definition;
use tilewise::{Fill, Gpu, Real, Tensor, bf16, f16, ops};

pub(super) const BLOCK: BlockForm = BlockForm {
    attention: ODD,
    inner: 41,
    norm: BlockNorm::Rms,
    position: NormPosition::Pre,
    feed_forward: FeedForward::SwiGlu,
};

/// Elements of a sequence, at the beginning of a buffer, as inputs of a replay must be.
pub(super) fn copied<T: Real>(x: &Tensor<T>, rows: Range<usize>) -> Tensor<T> {
    ops::concat(&[&x.slice(1, rows).unwrap()], 1).unwrap()
}

pub(super) fn causal_options<'a, T: Real>() -> AttentionOptions<'a, T> {
    AttentionOptions::new().causal(CausalFrom::BottomRight)
}

/// Runs steps of `new` elements up to the end: each against the rows of the definition, and with the bits of a call.
fn assert_steps<T: Real>(
    x: &Tensor<T>,
    [prompt, new]: [usize; 2],
    [cache, eager]: [&mut KeyValueCache<T>; 2],
    want: &Definition,
    pass: &Pass<'_, T>,
) {
    let gpu = x.gpu();
    let of = |rows: Range<usize>| copied(x, rows);
    for cache in [&mut *cache, &mut *eager] {
        cache.clear();
        pass(&of(0..prompt), cache).unwrap();
    }
    let token = gpu.zeros::<T>([BATCH, new, x.shape()[2]]).unwrap();
    let mut step = gpu.capture(&[token.view()], || pass(&token, cache)).unwrap();
    assert_eq!(cache.len(), prompt, "the capture appends nothing");
    for first in (prompt..=LENGTH - new).step_by(new) {
        let own = of(first..first + new);
        // The run may submit what was staged before.
        gpu.flush().unwrap();
        let before = gpu.stats();
        let y = step.run(&[own.view()]).unwrap().clone();
        let after = gpu.stats();
        assert_eq!(after.launches - before.launches, step.launches() as u64);
        assert_eq!(
            (after.plans, after.buffers_created, after.bytes_staged),
            (before.plans, before.buffers_created, before.bytes_staged)
        );
        assert_eq!(cache.len(), first + new);
        let compared = rows(want, first, first + new).compare(&y.to_vec().unwrap());
        assert!(compared.ok(), "rows from {first}, {new} at once, {}: {compared:?}", T::DTYPE);
        assert_eq!(bits(&y), bits(&pass(&own, eager).unwrap()), "row {first}: the bits of a call");
    }
    assert_eq!(bits(&cache.keys().unwrap()), bits(&eager.keys().unwrap()));
    assert_eq!(bits(&cache.values().unwrap()), bits(&eager.values().unwrap()));
    assert_eq!(cache.position().unwrap().to_vec().unwrap(), [i32::try_from(cache.len()).unwrap()]);
}

#[test]
fn one_captured_step_serves_every_position() {
    fn check<T: Real>(gpu: &Gpu, form: Form, steps: &[[usize; 2]]) {
        let layer = form.layer::<T>(gpu, LENGTH);
        let x = gpu.random::<T>([BATCH, LENGTH, form.embed], Fill::Uniform, 3).unwrap();
        let mut want = definition(&layer, LENGTH);
        want.kept = Some(causal(CausalFrom::BottomRight, [BATCH, form.heads, LENGTH, LENGTH]));
        let want = want.forward(&x.to_vec().unwrap(), [BATCH, LENGTH]);
        let options = causal_options();
        let [mut cache, mut eager] = [(); 2].map(|()| layer.replayable_cache(BATCH, LENGTH).unwrap());
        let pass = |x: &Tensor<T>, cache: &mut KeyValueCache<T>| layer.forward_cached(x, cache, &options);
        for &steps in steps {
            assert_steps(&x, steps, [&mut cache, &mut eager], &want, &pass);
        }
    }
    for gpu in support::devices() {
        check::<f32>(&gpu, ODD, &[[0, 1], [17, 5]]);
        if !support::is_short_sweep() {
            check::<f32>(&gpu, Form { rotary: None, ..ODD }, &[[61, 1]]);
            check::<f16>(&gpu, ODD, &[[40, 3]]);
            check::<bf16>(&gpu, ODD, &[[40, 3]]);
        }
    }
}

#[test]
fn a_step_of_a_block_does_too() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let block = BLOCK.block::<f32>(&gpu, LENGTH);
    let x = gpu.random::<f32>([BATCH, LENGTH, ODD.embed], Fill::Uniform, 3).unwrap();
    let mut want = block_definition(&block, BLOCK, LENGTH);
    want.attention.kept = Some(causal(CausalFrom::BottomRight, [BATCH, ODD.heads, LENGTH, LENGTH]));
    let want = want.forward(&x.to_vec().unwrap(), [BATCH, LENGTH]);
    let options = causal_options();
    let [mut cache, mut eager] = [(); 2].map(|()| block.attention().replayable_cache(BATCH, LENGTH).unwrap());
    let pass = |x: &Tensor<f32>, cache: &mut KeyValueCache<f32>| block.forward_cached(x, cache, &options);
    assert_steps(&x, [30, 2], [&mut cache, &mut eager], &want, &pass);
}

/// Masks are of all positions of the capacity.
#[test]
fn masks_and_windows_count_from_the_position() {
    let Some(gpu) = support::gpu() else { return };
    let layer = ODD.layer::<f32>(&gpu, 8);
    let x = gpu.random::<f32>([1, 8, ODD.embed], Fill::Uniform, 5).unwrap();
    let keep = gpu.tensor(&[1i8, 0, 1, 1, 0, 1, 1, 1], [1, 8]).unwrap();
    let slopes = gpu.tensor(&tilewise::attention::alibi_slopes(ODD.heads).unwrap(), [ODD.heads]).unwrap();
    let options = causal_options().window(Some(3), None).alibi(&slopes);
    let whole = layer.forward(&x, &options.keep(&keep)).unwrap().to_vec().unwrap();
    let mut cache = layer.replayable_cache(1, 8).unwrap();
    let token = gpu.zeros::<f32>([1, 1, ODD.embed]).unwrap();
    let mut step = gpu
        .capture(&[token.view()], || layer.forward_cached(&token, &mut cache, &options.keep(&keep)))
        .unwrap();
    for at in 0..8 {
        let token = copied(&x, at..at + 1);
        let found = step.run(&[token.view()]).unwrap().to_vec().unwrap();
        let want = &whole[at * ODD.embed..];
        assert!(found.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-5), "row {at}");
    }
}
