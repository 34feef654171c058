//! How many launches the layers take, and that they copy nothing.

use super::{BlockForm, Form};
use tilewise::attention::{AttentionOptions, Biases, BlockNorm, CausalFrom, FeedForward, NormPosition};
use tilewise::ops::RotaryPairs;
use tilewise::{Fill, Gpu, Result, Tensor};

const FORM: Form = Form { embed: 64, heads: 4, kv_heads: 2, biases: Biases::All, rotary: None };

/// The launches of a call.
fn launches(gpu: &Gpu, call: impl Fn() -> Result<Tensor<f32>>) -> u64 {
    call().unwrap();
    let before = gpu.stats().launches;
    call().unwrap();
    gpu.stats().launches - before
}

#[test]
fn a_layer_is_three_launches_and_a_rotation_one_more() {
    let Some(gpu) = support::first_driver().and_then(|()| support::own(|_| ())) else { return };
    let x = gpu.random::<f32>([2, 48, 64], Fill::Uniform, 1).unwrap();
    let causal = AttentionOptions::new().causal(CausalFrom::BottomRight);
    let layer = FORM.layer::<f32>(&gpu, 48);
    // One product for queries, keys and values, attention, one product.
    assert_eq!(launches(&gpu, || layer.forward(&x, &causal)), 3);
    // One product for queries, one for keys and values.
    assert_eq!(launches(&gpu, || layer.forward_cross(&x, &x, &AttentionOptions::new())), 4);
    // One launch rotates queries and keys.
    let rotated = Form { rotary: Some((RotaryPairs::Halves, 16)), ..FORM }.layer::<f32>(&gpu, 48);
    assert_eq!(launches(&gpu, || rotated.forward(&x, &causal)), 4);
    // The backward pass; a rotation of two gradients.
    for (layer, want) in [(&layer, 12), (&rotated, 14)] {
        let (y, saved) = layer.forward_saved(&x, &causal).unwrap();
        assert_eq!(launches(&gpu, || Ok(layer.backward(&saved, &y)?.0)), want);
    }
    // Two append to the cache.
    let cached = || rotated.forward_cached(&x, &mut rotated.cache(2, 48)?, &causal);
    assert_eq!(launches(&gpu, cached), 6);
}

#[test]
fn a_block_is_seven_launches() {
    let Some(gpu) = support::first_driver().and_then(|()| support::own(|_| ())) else { return };
    let x = gpu.random::<f32>([2, 48, 64], Fill::Uniform, 1).unwrap();
    let causal = AttentionOptions::new().causal(CausalFrom::BottomRight);
    for norm in BlockNorm::ALL {
        for position in NormPosition::ALL {
            for (feed_forward, want) in [(FeedForward::default(), 7), (FeedForward::SwiGlu, 8)] {
                let form = BlockForm { attention: FORM, inner: 96, norm, position, feed_forward };
                let block = form.block::<f32>(&gpu, 48);
                assert_eq!(launches(&gpu, || block.forward(&x, &causal)), want, "{form:?}");
                let cached = || block.forward_cached(&x, &mut block.attention().cache(2, 48)?, &causal);
                assert_eq!(launches(&gpu, cached), want + 2, "{form:?}");
            }
        }
    }
}

/// A step of decoding allocates what the products and the attention return, however long the cache is.
#[test]
fn a_step_needs_no_memory_for_the_cache() {
    let Some(gpu) = support::first_driver().and_then(|()| support::own(|_| ())) else { return };
    let layer = FORM.layer::<f32>(&gpu, 1);
    let causal = AttentionOptions::new().causal(CausalFrom::BottomRight);
    let mut cache = layer.cache(1, 4096).unwrap();
    let x = gpu.random::<f32>([1, 4000, 64], Fill::Uniform, 1).unwrap();
    layer.forward_cached(&x, &mut cache, &causal).unwrap();
    let one = x.slice(1, ..1).unwrap();
    layer.forward_cached(&one, &mut cache, &causal).unwrap();
    gpu.wait().unwrap();
    gpu.trim();
    gpu.reset_peak();
    let before = gpu.stats();
    layer.forward_cached(&one, &mut cache, &causal).unwrap();
    gpu.wait().unwrap();
    let held = 2 * 4096 * 2 * 16 * 4; // the bytes of the cache
    let more = gpu.stats().bytes_peak - before.bytes_in_use;
    println!("a step takes {more} bytes next to a cache of {held}");
    assert!(more < held / 4, "{more}");
}
