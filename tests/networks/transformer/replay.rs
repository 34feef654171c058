//! Blocks in a replay: a forward pass, and a step with a cache, which writes where the capture did.

use super::{BlockForm, Form, ODD};
use crate::support;
use tilewise::attention::{BlockNorm, FeedForward, NormPosition};
use tilewise::{AttentionOptions, CausalFrom, Fill, Gpu, TransformerBlock};

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
    if support::is_left_to_the_first_driver() {
        return;
    }
    let Some(gpu) = support::gpu() else { return };
    let (block, causal) = (block(&gpu), AttentionOptions::new().causal(CausalFrom::BottomRight));
    let [x, other] = [1, 2].map(|seed| gpu.random::<f32>([2, 9, 36], Fill::Uniform, seed).unwrap());
    let mut pass = gpu.capture(&[x.view()], || block.forward(&x, &causal)).unwrap();
    let found = pass.run(&[other.view()]).unwrap().to_vec().unwrap();
    assert_eq!(found, block.forward(&other, &causal).unwrap().to_vec().unwrap());
}

#[test]
fn a_captured_step_writes_where_the_capture_did() {
    if support::is_left_to_the_first_driver() {
        return;
    }
    let Some(gpu) = support::gpu() else { return };
    let (block, causal) = (block(&gpu), AttentionOptions::new().causal(CausalFrom::BottomRight));
    let prompt = gpu.random::<f32>([2, 5, 36], Fill::Uniform, 1).unwrap();
    let [x, other] = [2, 3].map(|seed| gpu.random::<f32>([2, 1, 36], Fill::Uniform, seed).unwrap());
    let mut cache = block.attention().cache(2, 9).unwrap();
    block.forward_cached(&prompt, &mut cache, &causal).unwrap();
    let mut step = gpu.capture(&[x.view()], || block.forward_cached(&x, &mut cache, &causal)).unwrap();
    assert_eq!(cache.len(), 6);
    for x in [&other, &x, &other] {
        let found = step.run(&[x.view()]).unwrap().to_vec().unwrap();
        let mut own = block.attention().cache(2, 9).unwrap();
        block.forward_cached(&prompt, &mut own, &causal).unwrap();
        assert_eq!(found, block.forward_cached(x, &mut own, &causal).unwrap().to_vec().unwrap());
        assert_eq!(cache.keys().unwrap().to_vec().unwrap(), own.keys().unwrap().to_vec().unwrap());
    }
}
