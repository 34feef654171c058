//! Layers of transformers in `.safetensors` files, with the names of `PyTorch`.

use super::builder::MultiHeadAttentionBuilder;
use super::multi_head::MultiHeadAttention;
use super::tensors::{Expected, LayerTensors, check_tensors};
use crate::error::Named;
#[cfg(not(target_arch = "wasm32"))]
use crate::error::call;
use crate::gpu::Gpu;
use crate::io::{Safetensors, SafetensorsWriter};
use crate::layout::Real;
use crate::ops::training::Parameters;
use crate::{Error, Result};

impl<T: Real> MultiHeadAttention<T> {
    /// Adds the layer's [`parameters`](Parameters::parameters) to a file, with `prefix` before their names, as `PyTorch` saves a
    /// `MultiheadAttention`. The number of heads and the rotary table are not saved. Not available in a browser: use
    /// [`save_async`](Self::save_async).
    ///
    /// # Errors
    /// [`Error::Input`] if the file already has a tensor with one of the names; otherwise as [`Tensor::to_vec`](crate::Tensor::to_vec).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn save(&self, file: SafetensorsWriter, prefix: &str) -> Result<SafetensorsWriter> {
        call("MultiHeadAttention::save", || file.tensors(prefix, self.parameters()))
    }

    /// As `save`, without blocking: it waits as [`Tensor::read`](crate::Tensor::read) does.
    ///
    /// # Errors
    /// [`Error::Input`] if the file already has a tensor with one of the names; otherwise as [`Tensor::read`](crate::Tensor::read).
    pub async fn save_async(&self, file: SafetensorsWriter, prefix: &str) -> Result<SafetensorsWriter> {
        file.tensors_async(prefix, self.parameters()).await.named("MultiHeadAttention::save_async")
    }
}

impl<T: Real> MultiHeadAttentionBuilder<T> {
    /// Loads the layer whose tensors have this prefix, with the names of [`save`](MultiHeadAttention::save).
    ///
    /// # Errors
    /// [`Error::Input`] names every tensor that is missing or has another shape or type, and every tensor of this prefix that the layer
    /// does not use, in one error; otherwise as [`random`](Self::random).
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::attention::MultiHeadAttention;
    /// use tilewise::io::{Safetensors, SafetensorsWriter};
    ///
    /// let builder = MultiHeadAttention::<f32>::builder(32, 4);
    /// let file = builder.random(&gpu)?.save(SafetensorsWriter::new(), "self_attn.")?;
    /// let file = Safetensors::from_bytes(file.to_bytes()?)?;
    /// let layer = builder.load(&file, &gpu, "self_attn.")?;
    /// assert_eq!(layer.in_proj_weight().shape(), [96, 32]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn load(&self, file: &Safetensors, gpu: &Gpu, prefix: &str) -> Result<MultiHeadAttention<T>> {
        let op = "MultiHeadAttention::load";
        let load = || self.assembled(&mut loaded(op, file, gpu, prefix, &self.expected("")?)?, "");
        load().named_except_files(op)
    }
}

/// The tensors of a layer in a file, all checked before the first is loaded.
pub(super) fn loaded<T: Real>(
    op: &'static str,
    file: &Safetensors,
    gpu: &Gpu,
    prefix: &str,
    expected: &[Expected],
) -> Result<LayerTensors<T>> {
    let names = file.names();
    let of_layer = names.iter().filter_map(|full| Some((full, full.strip_prefix(prefix)?)));
    let given = of_layer.map(|(full, name)| Ok((name, (file.shape(full)?, file.dtype(full)?))));
    check_tensors(format!("{op}: `{prefix}`"), prefix, expected, &given.collect::<Result<_>>()?, T::DTYPE)?;
    let tensor =
        |(name, _): &Expected| Ok::<_, Error>((name.clone(), file.tensor(gpu, &format!("{prefix}{name}"))?));
    Ok(LayerTensors::of(expected.iter().map(tensor).collect::<Result<Vec<_>>>()?))
}
