//! Blocks in a replay: a forward pass; a cache that counts on the host is refused, unless the capture has made it.

use super::{BlockForm, Form, ODD};
use support::failure::says;
use tilewise::attention::{
    AttentionOptions, BlockNorm, CausalFrom, FeedForward, KeyValueCache, NormPosition, TransformerBlock,
    attention,
};
use tilewise::{Fill, Gpu, Result, Tensor};

/// A block that has everything.
fn block(gpu: &Gpu) -> TransformerBlock<f32> {
    let form = BlockForm {
        attention: Form { embed: 36, ..ODD },
        inner: 40,
        norm: BlockNorm::Rms,
        position: NormPosition::Pre,
        feed_forward: FeedForward::SwiGlu,
    };
    form.block(gpu, 9)
}

#[test]
fn a_captured_pass_has_the_bits_of_a_call() {
    let Some(gpu) = support::first_driver().and_then(|()| support::gpu()) else { return };
    let (block, causal) = (block(&gpu), AttentionOptions::new().causal(CausalFrom::BottomRight));
    let [x, other] = [1, 2].map(|seed| gpu.random::<f32>([2, 9, 36], Fill::Uniform, seed).unwrap());
    let mut pass = gpu.capture(&[x.view()], || block.forward(&x, &causal)).unwrap();
    let found = pass.run(&[other.view()]).unwrap().to_vec().unwrap();
    assert_eq!(found, block.forward(&other, &causal).unwrap().to_vec().unwrap());
}

/// A cache whose positions the host counts: every run would write to those of the capture.
#[test]
fn a_cache_that_counts_on_the_host_is_refused() {
    let Some(gpu) = support::first_driver().and_then(|()| support::gpu()) else { return };
    let (block, causal) = (block(&gpu), AttentionOptions::new().causal(CausalFrom::BottomRight));
    let prompt = gpu.random::<f32>([2, 5, 36], Fill::Uniform, 1).unwrap();
    let x = gpu.random::<f32>([2, 1, 36], Fill::Uniform, 2).unwrap();
    let mut cache = block.attention().cache(2, 9).unwrap();
    block.forward_cached(&prompt, &mut cache, &causal).unwrap();
    let held = bits(&cache);
    let refused =
        |cache: &mut KeyValueCache<f32>, name: &str, call: &dyn Fn(&mut KeyValueCache<f32>) -> Result<()>| {
            let error = gpu.capture(&[], || call(cache)).map(drop).unwrap_err().to_string();
            assert!(error.starts_with(name) && error.contains("KeyValueCache::replayable"), "{error}");
        };
    refused(&mut cache, "TransformerBlock::forward_cached", &|cache| {
        block.forward_cached(&x, cache, &causal).map(drop)
    });
    refused(&mut cache, "MultiHeadAttention::forward_cached", &|cache| {
        block.attention().forward_cached(&x, cache, &causal).map(drop)
    });
    refused(&mut cache, "KeyValueCache::append", &|cache| {
        let own = gpu.empty([2, 2, 1, 6])?;
        cache.append(&own, &own)
    });
    refused(&mut cache, "KeyValueCache::keys", &|cache| cache.keys().map(drop));
    refused(&mut cache, "KeyValueCache::values", &|cache| cache.values().map(drop));
    for (name, call) in [
        ("truncate", KeyValueCache::truncate as fn(&mut KeyValueCache<f32>, usize)),
        ("clear", |it, _| it.clear()),
    ] {
        let mut other = block.attention().cache(2, 9).unwrap();
        let error = gpu.capture(&[x.view()], || {
            call(&mut other, 0);
            tilewise::ops::neg(&x)
        });
        says(error, &[name, "not in every run"]);
    }
    assert_eq!((cache.len(), bits(&cache)), (5, held), "it is as it was");
    // Views of a fixed number of keys, taken before, are other tensors.
    let (keys, values) = (cache.keys().unwrap(), cache.values().unwrap());
    let q = gpu.random::<f32>([2, 6, 1, 6], Fill::Uniform, 3).unwrap();
    let attend = || attention(&q, &keys, &values, &AttentionOptions::new());
    let mut replay = gpu.capture(&[q.view()], attend).unwrap();
    let want = attend().unwrap().to_vec().unwrap();
    assert_eq!(replay.run(&[q.view()]).unwrap().to_vec().unwrap(), want);
    block.forward_cached(&x, &mut cache, &causal).unwrap();
    assert_eq!(cache.len(), 6);
}

/// A cache that the closure makes is empty at the beginning of every run.
#[test]
fn a_cache_of_the_capture_itself_is_filled_anew_by_every_run() {
    let Some(gpu) = support::first_driver().and_then(|()| support::gpu()) else { return };
    let (block, causal) = (block(&gpu), AttentionOptions::new().causal(CausalFrom::BottomRight));
    let [x, other] = [1, 2].map(|seed| gpu.random::<f32>([2, 7, 36], Fill::Uniform, seed).unwrap());
    let passes = |x: &Tensor<f32>| {
        let mut cache = block.attention().cache(2, 9)?;
        block.forward_cached(&x.slice(1, ..3)?, &mut cache, &causal)?;
        cache.truncate(2);
        block.forward_cached(&x.slice(1, 2..)?, &mut cache, &causal)?;
        assert_eq!(cache.len(), 7);
        cache.keys()
    };
    let mut replay = gpu.capture(&[x.view()], || passes(&x)).unwrap();
    for x in [&x, &other, &x] {
        let want = passes(x).unwrap().to_vec().unwrap();
        assert_eq!(replay.run(&[x.view()]).unwrap().to_vec().unwrap(), want);
    }
}

fn bits(cache: &KeyValueCache<f32>) -> Vec<f32> {
    [cache.keys(), cache.values()].into_iter().flat_map(|of| of.unwrap().to_vec().unwrap()).collect()
}
