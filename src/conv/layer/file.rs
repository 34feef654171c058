//! Layers of convolutions in `.safetensors` files, with the names and shapes of `PyTorch`.

use super::batch_norm2d::BatchNorm2d;
use super::conv_bn_act::{CONV, ConvBnAct, NORM};
use super::conv_transpose2d::ConvTranspose2d;
use super::conv2d::Conv2d;
use super::weights::ConvWeights;
use crate::conv::ConvOptions;
use crate::error::Named;
#[cfg(not(target_arch = "wasm32"))]
use crate::error::call;
use crate::io::{Safetensors, SafetensorsWriter};
use crate::layout::Real;
use crate::ops::training::Parameters;
use crate::ops::{Activation, RunningStatistics};
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result};

/// The number of batches that running statistics average.
const BATCHES: &str = "num_batches_tracked";

impl<T: Real> Conv2d<T> {
    /// Loads the layer whose tensors have this prefix, as `PyTorch` saves a `Conv2d`: `weight` (outputs, channels / groups, height,
    /// width), which is stored channels last by one copy, and `bias` (outputs) if the file has one.
    ///
    /// # Errors
    /// [`Error::Input`] if the file has no weight, or a tensor's type is not `T`; [`Error::Shape`] if the weight does not have four axes,
    /// or the bias has another length; [`Error::OutOfMemory`] if the layer does not fit.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::conv::{Conv2d, ConvOptions};
    /// use tilewise::io::{Safetensors, SafetensorsWriter};
    ///
    /// let layer = Conv2d::<f32>::random(&gpu, [3, 8], [5, 5], ConvOptions::new(), 1)?;
    /// let file = layer.save(SafetensorsWriter::new(), "stem.")?;
    /// let file = Safetensors::from_bytes(file.to_bytes()?)?;
    /// assert_eq!(file.shape("stem.weight")?, [8, 3, 5, 5]); // as PyTorch has it
    /// let layer = Conv2d::<f32>::load(&file, &gpu, "stem.", ConvOptions::new())?;
    /// assert_eq!(layer.weight().shape(), [8, 5, 5, 3]); // channels last
    /// # Ok(())
    /// # }
    /// ```
    pub fn load(file: &Safetensors, gpu: &Gpu, prefix: &str, options: ConvOptions) -> Result<Self> {
        let op = "Conv2d::load";
        loaded(op, file, gpu, prefix)
            .and_then(|(weight, bias)| Self::of(weight, bias, options))
            .named_except_files(op)
    }

    /// Adds the layer's parameters to a file, with `prefix` before their names, as [`load`](Self::load) reads them. The options are not
    /// saved. Not available in a browser: use [`save_async`](Self::save_async).
    ///
    /// # Errors
    /// [`Error::Input`] if the file already has a tensor with one of the names; otherwise as [`Tensor::to_vec`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn save(&self, file: SafetensorsWriter, prefix: &str) -> Result<SafetensorsWriter> {
        call("Conv2d::save", || self.weights.save(file, prefix))
    }

    /// As `save`, without blocking: it waits as [`Tensor::read`] does.
    ///
    /// # Errors
    /// [`Error::Input`] if the file already has a tensor with one of the names; otherwise as [`Tensor::read`].
    pub async fn save_async(&self, file: SafetensorsWriter, prefix: &str) -> Result<SafetensorsWriter> {
        self.weights.save_async(file, prefix).await.named("Conv2d::save_async")
    }
}

impl<T: Real> ConvTranspose2d<T> {
    /// Loads the layer whose tensors have this prefix, as `PyTorch` saves a `ConvTranspose2d`: `weight` (channels, outputs / groups,
    /// height, width), which is stored channels last by one copy, and `bias` (outputs) if the file has one.
    ///
    /// # Errors
    /// As [`Conv2d::load`].
    pub fn load(file: &Safetensors, gpu: &Gpu, prefix: &str, options: ConvOptions) -> Result<Self> {
        let op = "ConvTranspose2d::load";
        loaded(op, file, gpu, prefix)
            .and_then(|(weight, bias)| Self::of(weight, bias, options))
            .named_except_files(op)
    }

    /// As `Conv2d::save`. Neither options nor output padding are saved.
    ///
    /// # Errors
    /// As `Conv2d::save`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn save(&self, file: SafetensorsWriter, prefix: &str) -> Result<SafetensorsWriter> {
        call("ConvTranspose2d::save", || self.weights.save(file, prefix))
    }

    /// As `save`, without blocking.
    ///
    /// # Errors
    /// As [`Conv2d::save_async`].
    pub async fn save_async(&self, file: SafetensorsWriter, prefix: &str) -> Result<SafetensorsWriter> {
        self.weights.save_async(file, prefix).await.named("ConvTranspose2d::save_async")
    }
}

impl<T: Real> BatchNorm2d<T> {
    /// Loads the norm whose tensors have this prefix, as `PyTorch` saves a `BatchNorm2d`: `running_mean` and `running_var`, which may have
    /// any real type; `weight`, `bias` and `num_batches_tracked` if the file has them.
    ///
    /// # Errors
    /// [`Error::Input`] if the file lacks running statistics, or the type of `weight` or `bias` is not `T`; [`Error::Shape`] if a tensor
    /// has another shape than the running mean; [`Error::OutOfMemory`] if the norm does not fit.
    pub fn load(file: &Safetensors, gpu: &Gpu, prefix: &str) -> Result<Self> {
        let op = "BatchNorm2d::load";
        Self::loaded(file, gpu, prefix).named_except_files(op)
    }

    pub(super) fn loaded(file: &Safetensors, gpu: &Gpu, prefix: &str) -> Result<Self> {
        let names = file.names();
        let given = |name: &str| Some(format!("{prefix}{name}")).filter(|name| names.contains(name));
        let weight = |name: &str| given(name).map(|name| file.tensor(gpu, &name)).transpose();
        let [mean, variance] = ["running_mean", "running_var"]
            .map(|name| file.tensor_as::<f32>(gpu, &format!("{prefix}{name}")));
        let batches = given(BATCHES).map(|name| file.values(&name)).transpose()?;
        let running = RunningStatistics { mean: mean?, variance: variance? };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count saturates")]
        let batches = batches.and_then(|values| values.first().copied()).map_or(0, |count| count as u64);
        Self::of(weight("weight")?, weight("bias")?, running, batches)
    }

    /// Adds the norm to a file, with `prefix` before its names, as [`load`](Self::load) reads it: running statistics in f32, and
    /// `num_batches_tracked` as I64. Neither epsilon nor momentum are saved. Not available in a browser: use
    /// [`save_async`](Self::save_async).
    ///
    /// # Errors
    /// [`Error::Input`] if the file already has a tensor with one of the names; otherwise as [`Tensor::to_vec`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn save(&self, file: SafetensorsWriter, prefix: &str) -> Result<SafetensorsWriter> {
        call("BatchNorm2d::save", || {
            let file = file.tensors(prefix, self.parameters())?.tensors(prefix, self.statistics())?;
            file.integer(format!("{prefix}{BATCHES}"), self.tracked())
        })
    }

    /// As `save`, without blocking.
    ///
    /// # Errors
    /// [`Error::Input`] if the file already has a tensor with one of the names; otherwise as [`Tensor::read`].
    pub async fn save_async(&self, file: SafetensorsWriter, prefix: &str) -> Result<SafetensorsWriter> {
        let op = "BatchNorm2d::save_async";
        let file = file.tensors_async(prefix, self.parameters()).await.named(op)?;
        let file = file.tensors_async(prefix, self.statistics()).await.named(op)?;
        file.integer(format!("{prefix}{BATCHES}"), self.tracked()).named(op)
    }

    fn statistics(&self) -> [(String, &Tensor<f32>); 2] {
        [("running_mean".into(), &self.running.mean), ("running_var".into(), &self.running.variance)]
    }

    fn tracked(&self) -> i64 {
        i64::try_from(self.batches).unwrap_or(i64::MAX)
    }
}

impl<T: Real> ConvBnAct<T> {
    /// Loads the block whose tensors have this prefix, as [`Conv2d::load`] below `conv.` and [`BatchNorm2d::load`] below `bn.`.
    /// [`eps`](Self::eps) is that of `PyTorch`, which files do not have.
    ///
    /// # Errors
    /// As [`Conv2d::load`] and [`BatchNorm2d::load`]; [`Error::Shape`] if the norm does not have the convolution's output channels.
    pub fn load(
        file: &Safetensors,
        gpu: &Gpu,
        prefix: &str,
        options: ConvOptions,
        activation: Activation,
    ) -> Result<Self> {
        let op = "ConvBnAct::load";
        let load = || {
            let (weight, bias) = loaded(op, file, gpu, &format!("{prefix}{CONV}"))?;
            let norm = BatchNorm2d::loaded(file, gpu, &format!("{prefix}{NORM}"))?;
            Self::of(Conv2d::of(weight, bias, options)?, norm, activation)
        };
        load().named_except_files(op)
    }

    /// Adds the block to a file, as [`load`](Self::load) reads it. Neither options nor activation are saved. Not available in a browser:
    /// use [`save_async`](Self::save_async).
    ///
    /// # Errors
    /// [`Error::Input`] if the file already has a tensor with one of the names; otherwise as [`Tensor::to_vec`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn save(&self, file: SafetensorsWriter, prefix: &str) -> Result<SafetensorsWriter> {
        call("ConvBnAct::save", || {
            let file = self.conv().save(file, &format!("{prefix}{CONV}"))?;
            self.norm().save(file, &format!("{prefix}{NORM}"))
        })
    }

    /// As `save`, without blocking.
    ///
    /// # Errors
    /// [`Error::Input`] if the file already has a tensor with one of the names; otherwise as [`Tensor::read`].
    pub async fn save_async(&self, file: SafetensorsWriter, prefix: &str) -> Result<SafetensorsWriter> {
        let op = "ConvBnAct::save_async";
        let file = self.conv().save_async(file, &format!("{prefix}{CONV}")).await.named(op)?;
        self.norm().save_async(file, &format!("{prefix}{NORM}")).await.named(op)
    }
}

impl<T: Real> ConvWeights<T> {
    /// The tensors in the shapes of `PyTorch`: the weight is a view with channels before rows and columns.
    fn saved(&self) -> Result<Vec<(String, Tensor<T>)>> {
        let weight = ("weight".to_owned(), self.weight.permute(&[0, 3, 1, 2])?);
        let bias = self.bias.as_ref().map(|bias| ("bias".to_owned(), bias.clone()));
        Ok([weight].into_iter().chain(bias).collect())
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn save(&self, file: SafetensorsWriter, prefix: &str) -> Result<SafetensorsWriter> {
        let tensors = self.saved()?;
        file.tensors(prefix, tensors.iter().map(|(name, tensor)| (name.clone(), tensor)))
    }

    async fn save_async(&self, file: SafetensorsWriter, prefix: &str) -> Result<SafetensorsWriter> {
        let tensors = self.saved()?;
        let tensors: Vec<_> = tensors.iter().map(|(name, tensor)| (name.clone(), tensor)).collect();
        file.tensors_async(prefix, tensors).await
    }
}

/// The weight of a file, channels last, and the bias if the file has one.
fn loaded<T: Real>(
    op: &'static str,
    file: &Safetensors,
    gpu: &Gpu,
    prefix: &str,
) -> Result<(Tensor<T>, Option<Tensor<T>>)> {
    let [weight, bias] = ["weight", "bias"].map(|name| format!("{prefix}{name}"));
    let shape = file.shape(&weight)?;
    if shape.len() != 4 {
        let rule = format!("`{weight}` must have four axes, height and width last");
        return Err(Error::shape(op, rule, shape));
    }
    let last = file.tensor::<T>(gpu, &weight)?.permute(&[0, 2, 3, 1])?.contiguous()?;
    let has_bias = file.names().contains(&bias);
    Ok((last, if has_bias { Some(file.tensor(gpu, &bias)?) } else { None }))
}
