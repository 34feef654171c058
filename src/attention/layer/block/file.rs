//! Blocks in `.safetensors` files, with the names of `PyTorch`.

use super::builder::TransformerBlockBuilder;
use super::transformer_block::TransformerBlock;
use crate::Result;
use crate::attention::layer::file::loaded;
use crate::error::Named;
#[cfg(not(target_arch = "wasm32"))]
use crate::error::call;
use crate::gpu::Gpu;
use crate::io::{Safetensors, SafetensorsWriter};
use crate::layout::Real;
use crate::ops::training::Parameters;

impl<T: Real> TransformerBlock<T> {
    /// Adds the block's [`parameters`](crate::Parameters::parameters) to a file, with `prefix` before their names, as `PyTorch`
    /// saves a `TransformerEncoderLayer`: `layers.0.self_attn.in_proj_weight` with the prefix `layers.0.`. The builder's settings
    /// are not saved. Not available in a browser: use [`save_async`](Self::save_async).
    ///
    /// # Errors
    /// As `MultiHeadAttention::save`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn save(&self, file: SafetensorsWriter, prefix: &str) -> Result<SafetensorsWriter> {
        call("TransformerBlock::save", || file.tensors(prefix, self.parameters()))
    }

    /// As `save`, without blocking.
    ///
    /// # Errors
    /// As [`MultiHeadAttention::save_async`](crate::attention::MultiHeadAttention::save_async).
    pub async fn save_async(&self, file: SafetensorsWriter, prefix: &str) -> Result<SafetensorsWriter> {
        file.tensors_async(prefix, self.parameters()).await.named("TransformerBlock::save_async")
    }
}

impl<T: Real> TransformerBlockBuilder<T> {
    /// Loads the block whose tensors have this prefix, with the names of [`save`](TransformerBlock::save).
    ///
    /// # Errors
    /// As [`MultiHeadAttentionBuilder::load`](crate::attention::MultiHeadAttentionBuilder::load); [`Error::Input`](crate::Error::Input) as
    /// [`random`](Self::random).
    pub fn load(&self, file: &Safetensors, gpu: &Gpu, prefix: &str) -> Result<TransformerBlock<T>> {
        let op = "TransformerBlock::load";
        let load = || self.assembled(loaded(op, file, gpu, prefix, &self.expected()?)?);
        load().named_except_files(op)
    }
}
