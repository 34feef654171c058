//! Sketched layers in `.safetensors` files, with Panther's names and shapes.

use super::{Frozen, SignMemory, SkLinear};
use crate::error::Named;
#[cfg(not(target_arch = "wasm32"))]
use crate::error::call;
use crate::io::{Safetensors, SafetensorsWriter};
use crate::layout::Real;
use crate::ops::Activation;
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result};

impl<T: Real> SkLinear<T> {
    /// Adds the layer to a file: `S1s` (T, in, R), `S2s` (T, R, out), `U1s` (T, R, out), `U2s` (T, in, R) and `bias`
    /// (out), with `prefix` before their names, as Panther's `SKLinear` saves them. If U is signs from a seed, only
    /// the seed is saved. The activation is not saved. Not available in a browser: use [`save_async`](Self::save_async).
    ///
    /// # Errors
    /// [`Error::Input`] if the file has a tensor of such a name already; otherwise as [`Tensor::to_vec`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn save(&self, file: SafetensorsWriter, prefix: &str) -> Result<SafetensorsWriter> {
        call("SkLinear::save", || {
            let file = self.save_seed(file, prefix);
            let mut tensors = self.saved()?.into_iter();
            tensors.try_fold(file, |file, (name, tensor)| file.tensor(format!("{prefix}{name}"), &tensor))
        })
    }

    /// As `save`, without blocking: it waits as [`Tensor::read`] does.
    ///
    /// # Errors
    /// [`Error::Input`] if the file has a tensor of such a name already; otherwise as [`Tensor::read`].
    pub async fn save_async(&self, file: SafetensorsWriter, prefix: &str) -> Result<SafetensorsWriter> {
        let op = "SkLinear::save_async";
        let mut file = self.save_seed(file, prefix);
        for (name, tensor) in self.saved().named(op)? {
            let added = file.tensor_async(format!("{prefix}{name}"), &tensor).await;
            file = added.named(op)?;
        }
        Ok(file)
    }

    fn save_seed(&self, file: SafetensorsWriter, prefix: &str) -> SafetensorsWriter {
        match self.frozen {
            Frozen::Given => file,
            Frozen::Signs { seed, .. } => file.metadata(format!("{prefix}seed"), seed.to_string()),
        }
    }

    /// The tensors to save, with Panther's names and shapes.
    fn saved(&self) -> Result<Vec<(&'static str, Tensor<T>)>> {
        let [terms, rank, inputs, outputs] = [self.terms, self.rank, self.inputs(), self.outputs()];
        // (in, TR) as (T, in, R), (TR, out) as (T, R, out).
        let by_term = |x: Tensor<T>| x.contiguous()?.reshape([inputs, terms, rank])?.permute(&[1, 0, 2]);
        let below = |x: Tensor<T>| x.contiguous()?.reshape([terms, rank, outputs]);
        let mut tensors = vec![("S1s", by_term(self.s1()?)?), ("S2s", below(self.s2()?)?)];
        if let Frozen::Given = self.frozen {
            tensors.extend([("U1s", below(self.u1()?)?), ("U2s", by_term(self.u2()?)?)]);
        }
        tensors.extend(self.bias.clone().map(|bias| ("bias", bias)));
        Ok(tensors)
    }

    /// The layer whose tensors have this prefix, as [`save`](Self::save) names them.
    ///
    /// # Shapes
    /// As [`from_factors`](Self::from_factors).
    /// # Errors
    /// [`Error::Input`] if a tensor is missing or of another type than `T`, or the file has neither U nor a seed;
    /// [`Error::Shape`] if shapes do not go together; [`Error::OutOfMemory`] without room.
    pub fn load(file: &Safetensors, gpu: &Gpu, prefix: &str, activation: Activation) -> Result<Self> {
        Self::loaded(file, gpu, prefix, activation).named_beside_files("SkLinear::load")
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
            Error::input(format!("SkLinear::load: {}", named("seed")), format!("`{seed}` is no seed"))
        })?;
        // With S in place of U, which has its shapes, for what is checked.
        let layer = Self::from_factors([&s1, &s2, &s2, &s1], bias.as_ref(), activation)?;
        let frozen = Frozen::Signs { seed, memory: SignMemory::Made };
        let first = super::copied(&layer.s1()?)?;
        let second = super::copied(&layer.s2()?)?;
        Self { frozen, first, second, ..layer }.with_signs(SignMemory::Stored)
    }
}
