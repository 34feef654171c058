//! The rate of a step of gradient descent.

use crate::gpu::check_same_gpu;
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result};

/// The rate of a step of gradient descent, as [`Parameters::descend`](crate::Parameters::descend) takes it: `0.01`, or `&rate` with a tensor.
///
/// Each run of a [`Replay`](crate::Replay) of the step reads the tensor again, so its value may change. A number is
/// fixed by the capture. Both give the same bits.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::Parameters;
/// use tilewise::sketch::SkLinear;
///
/// let mut layer = SkLinear::<f32>::builder(1, 2).seed(1).random(&gpu, [32, 16])?;
/// let x = gpu.tensor(&[1.0f32; 64], [2, 32])?;
/// let hidden = layer.hidden(&x)?;
/// let (_, gradients) = layer.backward(&x, &hidden, &layer.output(&hidden)?)?;
/// layer.descend(&gradients, 0.01)?;
/// let mut rate = gpu.tensor(&[0.01f32], [1])?;
/// layer.descend(&gradients, &rate)?;
/// rate.write(&[0.005])?;
/// layer.descend(&gradients, &rate)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Rate<'a> {
    /// A number of the host.
    Number(f32),
    /// The one element of a tensor of any shape.
    Tensor(&'a Tensor<f32>),
}

impl From<f32> for Rate<'_> {
    fn from(rate: f32) -> Self {
        Self::Number(rate)
    }
}

impl<'a> From<&'a Tensor<f32>> for Rate<'a> {
    fn from(rate: &'a Tensor<f32>) -> Self {
        Self::Tensor(rate)
    }
}

impl Rate<'_> {
    /// The rate as a tensor of one element that broadcasts to every shape.
    pub(super) fn on(self, op: &'static str, gpu: &Gpu) -> Result<Tensor<f32>> {
        match self {
            Self::Number(rate) => gpu.constant_tensor(rate),
            Self::Tensor(rate) => {
                check_same_gpu(op, gpu, rate.gpu())?;
                if rate.layout().len() != 1 {
                    return Err(Error::shape(op, "the rate must have one element", rate.shape()));
                }
                rate.as_strided(&[], &[], rate.layout().offset())
            }
        }
    }
}
