//! The trained tensors of a convolution or a transposed convolution.

use crate::layout::Real;
use crate::ops::training::ParameterMut;
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result};

/// A weight of four axes, channels last, and a bias.
#[derive(Clone, Debug)]
pub(super) struct ConvWeights<T: Real> {
    pub(super) weight: Tensor<T>,
    pub(super) bias: Option<Tensor<T>>,
}

impl<T: Real> ConvWeights<T> {
    /// Given tensors, if the weight has four axes. `outputs` gives the number of output channels for its shape.
    pub(super) fn new(
        op: &'static str,
        (weight, axes): (Tensor<T>, &'static str),
        bias: Option<Tensor<T>>,
        outputs: impl FnOnce([usize; 4]) -> usize,
    ) -> Result<Self> {
        let shape = weight.shape().try_into().map_err(|_| Error::shape(op, axes, weight.shape()))?;
        if let Some(bias) = &bias {
            weight.same_gpu(op, bias)?;
            if bias.shape() != [outputs(shape)] {
                let rule = "the bias must have an element for each output channel";
                return Err(Error::shapes(op, rule, bias.shape(), weight.shape()));
            }
        }
        Ok(Self { weight, bias })
    }

    /// The initial weights of `PyTorch`: uniform in $\pm 1 / \sqrt{n}$, where a row of the weight has $n$ elements without its first
    /// axis.
    pub(super) fn random(
        op: &'static str,
        gpu: &Gpu,
        shape: [usize; 4],
        outputs: usize,
        seed: u64,
    ) -> Result<Self> {
        if shape.contains(&0) || outputs == 0 {
            let rule = "a layer must have channels, outputs and a kernel of at least one row and column";
            return Err(Error::shape(op, rule, &shape));
        }
        let bound = 1.0 / shape[1..].iter().map(|&extent| extent as f64).product::<f64>().sqrt();
        let [of_weight, of_bias] = [1, 2].map(|part| seed.wrapping_mul(2).wrapping_add(part));
        let weight = gpu.uniform(op, &shape, bound, of_weight)?;
        Ok(Self { weight, bias: Some(gpu.uniform(op, &[outputs], bound, of_bias)?) })
    }

    /// The same in another type.
    pub(super) fn cast<P: Real>(&self) -> Result<ConvWeights<P>> {
        let bias = self.bias.as_ref().map(Tensor::cast).transpose()?;
        Ok(ConvWeights { weight: self.weight.cast()?, bias })
    }

    pub(super) fn parameters(&self) -> Vec<(String, &Tensor<T>)> {
        let bias = self.bias.as_ref().map(|bias| ("bias".into(), bias));
        [("weight".into(), &self.weight)].into_iter().chain(bias).collect()
    }

    pub(super) fn parameters_mut(&mut self) -> Vec<(String, ParameterMut<'_, T>)> {
        let bias = self.bias.as_mut().map(|bias| ("bias".into(), ParameterMut::new(bias)));
        [("weight".into(), ParameterMut::new(&mut self.weight))].into_iter().chain(bias).collect()
    }
}
