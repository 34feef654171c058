//! Blocks in `.safetensors` files, with the names of `PyTorch`.

use super::builder::{Parts, TransformerBlockBuilder};
use super::transformer_block::TransformerBlock;
use crate::Result;
#[cfg(not(target_arch = "wasm32"))]
use crate::attention::layer::file::save;
use crate::attention::layer::file::{Expected, LayerFile, save_async};
use crate::attention::layer::kinds::Biases;
use crate::error::Named;
#[cfg(not(target_arch = "wasm32"))]
use crate::error::call;
use crate::gpu::Gpu;
use crate::io::{Safetensors, SafetensorsWriter};
use crate::layout::Real;

/// The names of the tensors of the attention, in the order of those of the layer.
const ATTENTION: [[&str; 2]; 4] = [
    ["in_proj_weight", "self_attn.in_proj_weight"],
    ["in_proj_bias", "self_attn.in_proj_bias"],
    ["out_proj.weight", "self_attn.out_proj.weight"],
    ["out_proj.bias", "self_attn.out_proj.bias"],
];
/// Those of the linear layers and the norms: weight and bias.
const LINEAR: [[&str; 2]; 2] = [["linear1.weight", "linear1.bias"], ["linear2.weight", "linear2.bias"]];
const NORM: [[&str; 2]; 2] = [["norm1.weight", "norm1.bias"], ["norm2.weight", "norm2.bias"]];

impl<T: Real> TransformerBlock<T> {
    /// Adds the block's [`parameters`](crate::Parameters::parameters) to a file, with `prefix` before their names, as `PyTorch` saves a
    /// `TransformerEncoderLayer`: `layers.0.self_attn.in_proj_weight` with the prefix `layers.0.`. What the builder sets is not saved. Not
    /// available in a browser: use [`save_async`](Self::save_async).
    ///
    /// # Errors
    /// As [`MultiHeadAttention::save`](crate::MultiHeadAttention::save).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn save(&self, file: SafetensorsWriter, prefix: &str) -> Result<SafetensorsWriter> {
        call("TransformerBlock::save", || save(self, file, prefix))
    }

    /// As `save`, without blocking.
    ///
    /// # Errors
    /// As [`MultiHeadAttention::save_async`](crate::MultiHeadAttention::save_async).
    pub async fn save_async(&self, file: SafetensorsWriter, prefix: &str) -> Result<SafetensorsWriter> {
        save_async(self, file, prefix).await.named("TransformerBlock::save_async")
    }
}

impl<T: Real> TransformerBlockBuilder<T> {
    /// Loads the block whose tensors have this prefix, with the names of [`save`](TransformerBlock::save).
    ///
    /// # Errors
    /// As [`MultiHeadAttentionBuilder::load`](crate::attention::MultiHeadAttentionBuilder::load); [`Error::Input`](crate::Error::Input) as
    /// [`random`](Self::random).
    pub fn load(&self, file: &Safetensors, gpu: &Gpu, prefix: &str) -> Result<TransformerBlock<T>> {
        self.loaded(file, gpu, prefix).named_except_files("TransformerBlock::load")
    }

    fn loaded(&self, file: &Safetensors, gpu: &Gpu, prefix: &str) -> Result<TransformerBlock<T>> {
        self.check()?;
        let file = LayerFile::new::<T>("TransformerBlock::load", file, gpu, prefix, &self.expected()?)?;
        let attention = self.attention.loaded(&file, "self_attn.")?;
        let linear =
            |[weight, bias]: [&str; 2]| Ok((file.tensor(weight)?, self.with_bias(|| file.tensor(bias))?));
        let norm = |[weight, bias]: [&str; 2]| {
            let bias = self.norm_has_bias().then(|| file.tensor(bias)).transpose()?;
            Ok((file.tensor(weight)?, bias))
        };
        let [linear1, linear2] = LINEAR;
        let [norm1, norm2] = NORM;
        let parts =
            Parts { linear: [linear(linear1)?, linear(linear2)?], norm: [norm(norm1)?, norm(norm2)?] };
        self.block(attention, parts)
    }

    /// The tensors of a block.
    fn expected(&self) -> Result<Vec<Expected>> {
        let of_attention = self.attention.expected()?.into_iter();
        let mut all: Vec<Expected> = of_attention
            .filter_map(|(name, shape)| {
                let [_, full] = ATTENTION.iter().find(|[own, _]| *own == name)?;
                Some((*full, shape))
            })
            .collect();
        let has_biases = self.attention.biases == Biases::All;
        for ([weight, bias], shape) in LINEAR.into_iter().zip(self.weights()) {
            all.push((weight, shape.to_vec()));
            all.extend(has_biases.then(|| (bias, vec![shape[0]])));
        }
        for [weight, bias] in NORM {
            let shape = vec![self.attention.sizes.embed];
            all.push((weight, shape.clone()));
            all.extend(self.norm_has_bias().then_some((bias, shape)));
        }
        Ok(all)
    }
}
