//! The norms of a block.

use crate::Result;
use crate::attention::layer::kinds::BlockNorm;
use crate::layout::Real;
use crate::ops::{LayerNorm, RmsNorm};
use crate::tensor::Tensor;

/// A norm of the last axis with its parameters.
#[derive(Clone, Debug)]
pub(super) struct Norm<T: Real> {
    pub(super) kind: BlockNorm,
    pub(super) gamma: Tensor<T>,
    /// The bias of a layer norm, if it has one.
    pub(super) beta: Option<Tensor<T>>,
    pub(super) eps: f32,
}

impl<T: Real> Norm<T> {
    /// The norms of the rows of `x`.
    pub(super) fn of(&self, x: &Tensor<T>) -> Result<Tensor<T>> {
        let (gamma, beta) = (&self.gamma, self.beta.as_ref());
        match self.kind {
            BlockNorm::Layer => LayerNorm::new().gamma(gamma).beta(beta).eps(self.eps).run(x),
            BlockNorm::Rms => RmsNorm::new().gamma(gamma).eps(self.eps).run(x),
        }
    }

    /// The norm with parameters of another type.
    pub(super) fn cast<P: Real>(&self) -> Result<Norm<P>> {
        let beta = self.beta.as_ref().map(Tensor::cast).transpose()?;
        Ok(Norm { kind: self.kind, gamma: self.gamma.cast()?, beta, eps: self.eps })
    }
}
