//! Decoding with a cache gives the rows of one pass over the whole sequence.

use super::{BlockForm, Form, ODD, block_definition, causal, definition};
use support::failure::{Kind, fails};
use tilewise::attention::{
    AttentionOptions, BlockNorm, CausalFrom, FeedForward, KeyValueCache, NormPosition,
};
use tilewise::reference::Definition;
use tilewise::{Fill, Gpu, Real, Result, Tensor, f16};

pub(super) const BATCH: usize = 2;
pub(super) const LENGTH: usize = 64;

/// A pass over new elements, whose keys and values a cache takes.
pub(super) type Pass<'a, T> = dyn Fn(&Tensor<T>, &mut KeyValueCache<T>) -> Result<Tensor<T>> + 'a;

/// The rows `first..end` of each sequence.
pub(super) fn rows(of: &Definition, first: usize, end: usize) -> Definition {
    let embed = of.value.len() / (BATCH * LENGTH);
    let part = |of: &[f64]| -> Vec<f64> {
        let of_batch = |at: usize| &of[(at * LENGTH + first) * embed..(at * LENGTH + end) * embed];
        (0..BATCH).flat_map(of_batch).copied().collect()
    };
    Definition { value: part(&of.value), tolerance: part(&of.tolerance) }
}

/// Passes over parts of these lengths, and then over single elements up to the end, each against the rows of the definition.
fn assert_parts<T: Real>(
    x: &Tensor<T>,
    parts: &[usize],
    cache: &mut KeyValueCache<T>,
    want: &Definition,
    pass: &Pass<'_, T>,
) {
    cache.clear();
    let singles = LENGTH - parts.iter().sum::<usize>();
    for &length in parts.iter().chain(&vec![1; singles]) {
        let (first, end) = (cache.len(), cache.len() + length);
        let y = pass(&x.slice(1, first..end).unwrap(), cache).unwrap();
        let compared = rows(want, first, end).compare(&y.to_vec().unwrap());
        assert!(compared.ok(), "rows {first}..{end} of {parts:?} in {}: {compared:?}", T::DTYPE);
    }
    assert_eq!((cache.len(), cache.capacity()), (LENGTH, LENGTH));
}

#[test]
fn a_cached_decode_of_64_steps_equals_the_full_pass_row_by_row() {
    fn check<T: Real>(gpu: &Gpu, form: Form) {
        let layer = form.layer::<T>(gpu, LENGTH);
        let x = gpu.random::<T>([BATCH, LENGTH, form.embed], Fill::Uniform, 3).unwrap();
        let mut want = definition(&layer, LENGTH);
        want.kept = Some(causal(CausalFrom::BottomRight, [BATCH, form.heads, LENGTH, LENGTH]));
        let want = want.forward(&x.to_vec().unwrap(), [BATCH, LENGTH]);
        let options = AttentionOptions::new().causal(CausalFrom::BottomRight);
        let whole = want.compare(&layer.forward(&x, &options).unwrap().to_vec().unwrap());
        assert!(whole.ok(), "{form:?}: {whole:?}");
        let mut cache = layer.cache(BATCH, LENGTH).unwrap();
        // A pass with a cache is causal, whether the options say so or not.
        for options in [options, AttentionOptions::new()] {
            let pass = |x: &Tensor<T>, cache: &mut KeyValueCache<T>| layer.forward_cached(x, cache, &options);
            assert_parts(&x, &[], &mut cache, &want, &pass);
            assert_parts(&x, &[17, 1, 5, 32], &mut cache, &want, &pass);
        }
    }
    let Some(gpu) = support::gpu() else { return };
    check::<f32>(&gpu, ODD);
    if !support::is_short_sweep() {
        check::<f32>(&gpu, Form { rotary: None, ..ODD });
        check::<f16>(&gpu, ODD);
    }
}

#[test]
fn a_block_decodes_too() {
    let Some(gpu) = support::gpu() else { return };
    let form = BlockForm {
        attention: ODD,
        inner: 41,
        norm: BlockNorm::Rms,
        position: NormPosition::Pre,
        feed_forward: FeedForward::SwiGlu,
    };
    let block = form.block::<f32>(&gpu, LENGTH);
    let x = gpu.random::<f32>([BATCH, LENGTH, ODD.embed], Fill::Uniform, 3).unwrap();
    let mut want = block_definition(&block, form, LENGTH);
    let sizes = [BATCH, ODD.heads, LENGTH, LENGTH];
    want.attention.kept = Some(causal(CausalFrom::BottomRight, sizes));
    let want = want.forward(&x.to_vec().unwrap(), [BATCH, LENGTH]);
    let options = AttentionOptions::new();
    let mut cache = block.attention().cache(BATCH, LENGTH).unwrap();
    let pass = |x: &Tensor<f32>, cache: &mut KeyValueCache<f32>| block.forward_cached(x, cache, &options);
    assert_parts(&x, &[40, 7], &mut cache, &want, &pass);
}

/// Padded sequences: the lengths are those of all keys.
#[test]
fn masks_are_of_all_keys_of_the_cache() {
    let Some(gpu) = support::gpu() else { return };
    let layer = ODD.layer::<f32>(&gpu, LENGTH);
    let x = gpu.random::<f32>([BATCH, LENGTH, ODD.embed], Fill::Uniform, 3).unwrap();
    let lengths = gpu.tensor(&[64i32, 11], [BATCH]).unwrap();
    let options = AttentionOptions::new().causal(CausalFrom::BottomRight).key_lengths(&lengths);
    let mut want = definition(&layer, LENGTH);
    let mut kept = causal(CausalFrom::BottomRight, [BATCH, ODD.heads, LENGTH, LENGTH]);
    for (at, kept) in kept.iter_mut().enumerate() {
        *kept &= at / (ODD.heads * LENGTH * LENGTH) == 0 || at % LENGTH < 11;
    }
    want.kept = Some(kept);
    let want = want.forward(&x.to_vec().unwrap(), [BATCH, LENGTH]);
    let mut cache = layer.cache(BATCH, LENGTH).unwrap();
    let pass = |x: &Tensor<f32>, cache: &mut KeyValueCache<f32>| layer.forward_cached(x, cache, &options);
    assert_parts(&x, &[30, 30], &mut cache, &want, &pass);
}

/// A call that fails leaves the cache as it was: full, of another shape, or with a mask that does not fit.
#[test]
fn a_pass_that_fails_appends_nothing() {
    let Some(gpu) = support::gpu() else { return };
    let layer = ODD.layer::<f32>(&gpu, LENGTH);
    let mut cache = layer.cache(1, 4).unwrap();
    let x = gpu.random::<f32>([1, 3, ODD.embed], Fill::Uniform, 3).unwrap();
    let causal = AttentionOptions::new().causal(CausalFrom::BottomRight);
    layer.forward_cached(&x, &mut cache, &causal).unwrap();
    fails(
        layer.forward_cached(&x, &mut cache, &causal),
        Kind::Shape,
        &["^MultiHeadAttention::forward_cached: "],
    );
    let one = x.slice(1, ..1).unwrap();
    let keep = gpu.zeros::<i8>([1, 3]).unwrap(); // there are four keys
    layer.forward_cached(&one, &mut cache, &causal.keep(&keep)).unwrap_err();
    layer.forward_cached(&one, &mut cache, &AttentionOptions::new().causal(CausalFrom::TopLeft)).unwrap_err();
    assert_eq!(cache.len(), 3);
    layer.forward_cached(&one, &mut cache, &causal).unwrap();
    assert_eq!(cache.len(), 4);
}
