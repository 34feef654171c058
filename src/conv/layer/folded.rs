//! A convolution and a batch norm in evaluation, folded.

use super::batch_norm2d::BatchNorm2d;
use super::conv2d::Conv2d;
use crate::Result;
use crate::conv::Convolution;
use crate::error::Named;
use crate::layout::Real;
use crate::ops::{self, Activation};
use crate::tensor::Tensor;

/// A [`ConvBnAct`](crate::conv::ConvBnAct) for evaluation, from [`ConvBnAct::folded`](crate::conv::ConvBnAct::folded): a convolution
/// whose epilogue is the bias and the norm, as a scale and a shift of each channel, and the activation. The weight is unchanged,
/// and is shared.
#[derive(Clone, Debug)]
pub struct FoldedConv<T: Real> {
    /// Without its bias, which is part of the shift.
    conv: Conv2d<T>,
    scale_shift: [Tensor<f32>; 2],
    activation: Activation,
}

impl<T: Real> FoldedConv<T> {
    pub(super) fn of(conv: &Conv2d<T>, norm: &BatchNorm2d<T>, activation: Activation) -> Result<Self> {
        let [scale, shift] = norm.terms()?;
        let shift = match conv.bias() {
            None => shift,
            Some(bias) => {
                let bias = bias.cast::<f32>()?;
                ops::map(&[&shift, &scale, &bias], |[shift, scale, bias]| shift + scale * bias)?
            }
        };
        Ok(Self { conv: conv.clone().without_bias(), scale_shift: [scale, shift], activation })
    }

    /// The result in evaluation.
    ///
    /// # Shapes
    /// As [`Conv2d::forward`].
    /// # Errors
    /// As [`Conv2d::forward`].
    /// # Precision
    /// As [`Convolution`]: computed in f32 and rounded once.
    /// # Launches
    /// As [`conv2d`](crate::conv::conv2d): one, as a rule.
    pub fn forward(&self, x: &Tensor<T>) -> Result<Tensor<T>> {
        self.convolution(x).run().named("FoldedConv::forward")
    }

    /// The convolution with its epilogue, to add a residual, or to see its plan.
    pub fn convolution<'a>(&'a self, x: &'a Tensor<T>) -> Convolution<'a, T> {
        let [scale, shift] = &self.scale_shift;
        self.conv.convolution(x).scale_shift(scale, shift).activation(self.activation)
    }
}
