//! Sketched layers in `.safetensors` files, with Panther's names and shapes.

use super::factors::copied;
use super::frozen::{Frozen, SignStorage};
use super::sk_linear::SkLinear;
use crate::error::Named;
#[cfg(not(target_arch = "wasm32"))]
use crate::error::call;
use crate::io::{Safetensors, SafetensorsWriter};
use crate::layout::Real;
use crate::ops::Activation;
use crate::ops::training::Parameters;
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result};

impl<T: Real> SkLinear<T> {
    /// Adds the layer's [`parameters`](Parameters::parameters) to a file, with `prefix` before their names, as
    /// Panther's `SKLinear` saves them. If U is signs of a seed, the seed is saved as metadata instead of U. The
    /// activation is not saved. Not available in a browser: use [`save_async`](Self::save_async).
    ///
    /// # Errors
    /// [`Error::Input`] if the file already has a tensor with one of the names; otherwise as for [`Tensor::to_vec`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn save(&self, file: SafetensorsWriter, prefix: &str) -> Result<SafetensorsWriter> {
        call("SkLinear::save", || self.save_seed(file, prefix).tensors(prefix, self.parameters()))
    }

    /// Like `save`, without blocking: it waits as [`Tensor::read`] does.
    ///
    /// # Errors
    /// [`Error::Input`] if the file already has a tensor with one of the names; otherwise as for [`Tensor::read`].
    pub async fn save_async(&self, file: SafetensorsWriter, prefix: &str) -> Result<SafetensorsWriter> {
        let file = self.save_seed(file, prefix).tensors_async(prefix, self.parameters()).await;
        file.named("SkLinear::save_async")
    }

    fn save_seed(&self, file: SafetensorsWriter, prefix: &str) -> SafetensorsWriter {
        match self.frozen {
            Frozen::Explicit => file,
            Frozen::Signs { seed, .. } => file.metadata(format!("{prefix}seed"), seed.to_string()),
        }
    }

    /// Loads the layer whose tensors have this prefix, with the names of [`save`](Self::save). Signs of a seed are
    /// stored.
    ///
    /// # Shapes
    /// As for [`from_factors`](Self::from_factors).
    /// # Errors
    /// [`Error::Input`] if a tensor is missing or its type is not `T`, or if the file has neither U nor a seed;
    /// [`Error::Shape`] if the shapes do not match; [`Error::OutOfMemory`] if the layer does not fit.
    pub fn load(file: &Safetensors, gpu: &Gpu, prefix: &str, activation: Activation) -> Result<Self> {
        Self::loaded(file, gpu, prefix, activation).named_except_files("SkLinear::load")
    }

    fn loaded(file: &Safetensors, gpu: &Gpu, prefix: &str, activation: Activation) -> Result<Self> {
        let named = |name: &str| format!("{prefix}{name}");
        let tensor = |name: &str| file.tensor::<T>(gpu, &named(name));
        let has = |name: &str| file.names().contains(&named(name));
        let (s1, s2) = (tensor("S1s")?, tensor("S2s")?);
        let bias = if has("bias") { Some(tensor("bias")?) } else { None };
        let Some(seed) = file.metadata(&named("seed")).filter(|_| !has("U1s")) else {
            let (u1, u2) = (tensor("U1s")?, tensor("U2s")?);
            return Self::from_factors([&s1, &u1, &s2, &u2], bias.as_ref(), activation);
        };
        let seed = seed.parse().map_err(|_| {
            Error::input(
                format!("SkLinear::load: {}", named("seed")),
                format!("`{seed}` is not a 64-bit seed"),
            )
        })?;
        // S stands in for U, which has the same shapes, so that `from_factors` checks them.
        let layer = Self::from_factors([&s1, &s2, &s2, &s1], bias.as_ref(), activation)?;
        let frozen = Frozen::Signs { seed, storage: SignStorage::Generated };
        let factors: [Tensor<T>; 2] = [copied(&layer.s1()?)?, copied(&layer.s2()?)?];
        layer.refactored(frozen, factors).to_sign_storage(SignStorage::Stored)
    }
}
