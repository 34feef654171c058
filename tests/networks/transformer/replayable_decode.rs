//! A layer that decodes by a captured step, for what comes between the runs.

use super::ODD;
use super::replayable::{bits, causal_options, copied};
use tilewise::attention::{KeyValueCache, MultiHeadAttention};
use tilewise::{Fill, Gpu, Replay, Result, Tensor, wgpu};

/// A layer, its cache for 8 positions, and a captured step of one token of a sequence.
pub(super) struct Decode {
    pub(super) gpu: Gpu,
    pub(super) layer: MultiHeadAttention<f32>,
    pub(super) x: Tensor<f32>,
    pub(super) cache: KeyValueCache<f32>,
    pub(super) step: Replay<Tensor<f32>>,
}

impl Decode {
    pub(super) fn new(gpu: &Gpu) -> Self {
        let layer = ODD.layer::<f32>(gpu, 8);
        let x = gpu.random::<f32>([1, 8, ODD.embed], Fill::Uniform, 5).unwrap();
        let mut cache = layer.replayable_cache(1, 8).unwrap();
        let token = gpu.zeros::<f32>([1, 1, ODD.embed]).unwrap();
        let options = causal_options();
        let captured = gpu.capture(&[token.view()], || layer.forward_cached(&token, &mut cache, &options));
        Self { gpu: gpu.clone(), step: captured.unwrap(), layer, x, cache }
    }

    pub(super) fn token(&self, at: usize) -> Tensor<f32> {
        copied(&self.x, at..at + 1)
    }

    pub(super) fn run(&mut self, at: usize) -> Result<Tensor<f32>> {
        let token = self.token(at);
        self.step.run(&[token.view()]).cloned()
    }

    /// The rows of these tokens, each decoded by a call, one after the other.
    pub(super) fn want(&self, tokens: &[usize]) -> Vec<Vec<u8>> {
        let mut cache = self.layer.replayable_cache(1, 8).unwrap();
        let row = |&at: &usize| {
            bits(&self.layer.forward_cached(&self.token(at), &mut cache, &causal_options()).unwrap())
        };
        tokens.iter().map(row).collect()
    }

    /// Decodes this token by a call.
    pub(super) fn call(&mut self, at: usize) -> Result<Tensor<f32>> {
        self.layer.forward_cached(&self.token(at), &mut self.cache, &causal_options())
    }

    /// What `work` gives in a frame, and its encoder.
    pub(super) fn frame<R>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<R>,
    ) -> (Result<R>, wgpu::CommandEncoder) {
        let gpu = self.gpu.clone();
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        (gpu.record_into(&mut encoder, || work(self)), encoder)
    }

    /// The keys and values of the first positions.
    pub(super) fn held(&self, len: usize) -> [Vec<u8>; 2] {
        let [keys, values] = [self.cache.keys(), self.cache.values()];
        [keys, values].map(|of| bits(&of.unwrap().slice(2, ..len).unwrap()))
    }

    /// Runs this token, which must have these bits.
    pub(super) fn assert_run(&mut self, at: usize, want: &[u8]) {
        assert_eq!(bits(&self.run(at).unwrap()), want, "token {at}");
    }
}
