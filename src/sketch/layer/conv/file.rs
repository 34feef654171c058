//! Sketched convolutions in `.safetensors` files, with Panther's names and shapes.

use super::sk_conv2d::SkConv2d;
use crate::conv::ConvOptions;
use crate::error::Named;
#[cfg(not(target_arch = "wasm32"))]
use crate::error::call;
use crate::io::{Safetensors, SafetensorsWriter};
use crate::layout::Real;
use crate::tensor::Tensor;
use crate::{Gpu, Result};

impl<T: Real> SkConv2d<T> {
    /// Adds the layer to a file, with `prefix` before its names, as Panther's `SKConv2d` saves it: `S1s` (2TR, channels, height, width),
    /// `U1s` (2T, R, outputs), and `bias` (outputs) if there is one. The options are not saved. Not available in a browser: use
    /// [`save_async`](Self::save_async).
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) if the file already has a tensor with one of the names; otherwise as [`Tensor::to_vec`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn save(&self, file: SafetensorsWriter, prefix: &str) -> Result<SafetensorsWriter> {
        call("SkConv2d::save", || {
            let tensors = self.saved()?;
            file.tensors(prefix, tensors.iter().map(|(name, tensor)| ((*name).into(), tensor)))
        })
    }

    /// As `save`, without blocking: it waits as [`Tensor::read`] does.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) if the file already has a tensor with one of the names; otherwise as [`Tensor::read`].
    pub async fn save_async(&self, file: SafetensorsWriter, prefix: &str) -> Result<SafetensorsWriter> {
        let op = "SkConv2d::save_async";
        let tensors = self.saved().named(op)?;
        let tensors: Vec<_> = tensors.iter().map(|(name, tensor)| ((*name).into(), tensor)).collect();
        file.tensors_async(prefix, tensors).await.named(op)
    }

    /// The tensors with Panther's names and shapes.
    fn saved(&self) -> Result<Vec<(&'static str, Tensor<T>)>> {
        let kernels = ("S1s", self.kernels.permute(&[0, 3, 1, 2])?);
        let bias = self.bias.as_ref().map(|bias| ("bias", bias.clone()));
        Ok([kernels, ("U1s", self.frozen.clone())].into_iter().chain(bias).collect())
    }

    /// Loads the layer whose tensors have this prefix, with the names of [`save`](Self::save). `S1s` is stored channels last by one copy.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) if a tensor is missing or its type is not `T`; otherwise as
    /// [`from_factors`](Self::from_factors).
    pub fn load(file: &Safetensors, gpu: &Gpu, prefix: &str, options: ConvOptions) -> Result<Self> {
        let load = || {
            let tensor = |name: &str| file.tensor::<T>(gpu, &format!("{prefix}{name}"));
            let kernels = tensor("S1s")?.permute(&[0, 2, 3, 1])?.contiguous()?;
            let has_bias = file.names().contains(&format!("{prefix}bias"));
            let bias = if has_bias { Some(tensor("bias")?) } else { None };
            Self::from_factors(&kernels, &tensor("U1s")?, bias.as_ref(), options)
        };
        load().named_except_files("SkConv2d::load")
    }
}
