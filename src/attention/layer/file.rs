//! Layers of transformers in `.safetensors` files, with the names of `PyTorch`.

use super::builder::MultiHeadAttentionBuilder;
use super::kinds::Biases;
use super::multi_head::{MultiHeadAttention, OP};
use crate::error::Named;
#[cfg(not(target_arch = "wasm32"))]
use crate::error::call;
use crate::gpu::Gpu;
use crate::io::{Safetensors, SafetensorsWriter};
use crate::layout::Real;
use crate::tensor::{Parameters, Tensor};
use crate::{Error, Result};

/// The name of a tensor that a layer has, and its shape.
pub(super) type Expected = (&'static str, Vec<usize>);

/// The tensors of a layer by name, all checked before the first is loaded.
pub(super) struct LayerFile<'a> {
    file: &'a Safetensors,
    gpu: &'a Gpu,
    prefix: &'a str,
}

impl<T: Real> MultiHeadAttention<T> {
    /// Adds the layer's [`parameters`](Parameters::parameters) to a file, with `prefix` before their names, as `PyTorch` saves a
    /// `MultiheadAttention`. The number of heads and the rotary table are not saved. Not available in a browser: use
    /// [`save_async`](Self::save_async).
    ///
    /// # Errors
    /// [`Error::Input`] if the file already has a tensor with one of the names; otherwise as [`Tensor::to_vec`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn save(&self, file: SafetensorsWriter, prefix: &str) -> Result<SafetensorsWriter> {
        call("MultiHeadAttention::save", || save(self, file, prefix))
    }

    /// As `save`, without blocking: it waits as [`Tensor::read`] does.
    ///
    /// # Errors
    /// [`Error::Input`] if the file already has a tensor with one of the names; otherwise as [`Tensor::read`].
    pub async fn save_async(&self, file: SafetensorsWriter, prefix: &str) -> Result<SafetensorsWriter> {
        save_async(self, file, prefix).await.named("MultiHeadAttention::save_async")
    }
}

impl<T: Real> MultiHeadAttentionBuilder<T> {
    /// Loads the layer whose tensors have this prefix, with the names of [`save`](MultiHeadAttention::save).
    ///
    /// # Errors
    /// [`Error::Input`] names every tensor that is missing or has another shape or type, and every tensor of this prefix that the layer
    /// does not use, in one error; otherwise as [`from_tensors`](Self::from_tensors).
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::MultiHeadAttention;
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
        let load = || {
            let file = LayerFile::new::<T>("MultiHeadAttention::load", file, gpu, prefix, &self.expected()?)?;
            self.loaded(&file, "")
        };
        load().named_except_files("MultiHeadAttention::load")
    }

    /// The tensors of a layer.
    pub(super) fn expected(&self) -> Result<Vec<Expected>> {
        let sizes = self.sizes.check(OP)?;
        let (embed, rows) = (sizes.embed, sizes.rows());
        let mut all = vec![("in_proj_weight", vec![rows, embed]), ("out_proj.weight", vec![embed, embed])];
        if self.biases == Biases::All {
            all.extend([("in_proj_bias", vec![rows]), ("out_proj.bias", vec![embed])]);
        }
        Ok(all)
    }

    /// The layer, from tensors whose names have this prefix in the layer's file.
    pub(super) fn loaded(&self, file: &LayerFile<'_>, prefix: &str) -> Result<MultiHeadAttention<T>> {
        let tensor = |name: &str| file.tensor::<T>(&format!("{prefix}{name}"));
        let bias = |name: &str| (self.biases == Biases::All).then(|| tensor(name)).transpose();
        let weights = [tensor("in_proj_weight")?, tensor("out_proj.weight")?];
        self.from_tensors(weights, [bias("in_proj_bias")?, bias("out_proj.bias")?])
    }
}

impl<'a> LayerFile<'a> {
    /// The tensors with this prefix, if they are those that are expected. An error has every fault.
    pub(super) fn new<T: Real>(
        op: &'static str,
        file: &'a Safetensors,
        gpu: &'a Gpu,
        prefix: &'a str,
        expected: &[Expected],
    ) -> Result<Self> {
        let names = file.names();
        let mut wrong = Vec::new();
        for (name, shape) in expected {
            let name = format!("{prefix}{name}");
            if !names.contains(&name) {
                wrong.push(format!("`{name}` is missing"));
            } else if file.shape(&name)? != shape {
                wrong.push(format!("`{name}` is {:?}, not {shape:?}", file.shape(&name)?));
            } else if file.dtype(&name)? != Some(T::DTYPE) {
                wrong.push(format!("`{name}` does not have the type {}", T::DTYPE));
            }
        }
        let is_known = |name: &str| expected.iter().any(|(known, _)| *known == name);
        let extra = names.iter().filter(|name| name.strip_prefix(prefix).is_some_and(|name| !is_known(name)));
        wrong.extend(extra.map(|name| format!("`{name}` is not a tensor of the layer")));
        if wrong.is_empty() {
            return Ok(Self { file, gpu, prefix });
        }
        Err(Error::input(format!("{op}: `{prefix}`"), wrong.join("; ")))
    }

    /// A tensor.
    pub(super) fn tensor<T: Real>(&self, name: &str) -> Result<Tensor<T>> {
        self.file.tensor(self.gpu, &format!("{}{name}", self.prefix))
    }
}

/// Adds all parameters of a layer to a file.
#[cfg(not(target_arch = "wasm32"))]
pub(super) fn save<T: Real>(
    layer: &impl Parameters<T>,
    file: SafetensorsWriter,
    prefix: &str,
) -> Result<SafetensorsWriter> {
    let mut parameters = layer.parameters().into_iter();
    parameters.try_fold(file, |file, (name, tensor)| file.tensor(format!("{prefix}{name}"), tensor))
}

/// As [`save`], without blocking.
pub(super) async fn save_async<T: Real>(
    layer: &impl Parameters<T>,
    mut file: SafetensorsWriter,
    prefix: &str,
) -> Result<SafetensorsWriter> {
    for (name, tensor) in layer.parameters() {
        file = file.tensor_async(format!("{prefix}{name}"), tensor).await?;
    }
    Ok(file)
}
