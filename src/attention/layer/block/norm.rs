//! The norms of a block.

use crate::Result;
use crate::attention::layer::kinds::BlockNorm;
use crate::layout::Real;
use crate::ops::training::{ParameterMut, Parameters};
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

impl<T: Real> Parameters<T> for Norm<T> {
    fn parameters(&self) -> Vec<(String, &Tensor<T>)> {
        let beta = self.beta.as_ref().map(|beta| ("bias".into(), beta));
        [("weight".into(), &self.gamma)].into_iter().chain(beta).collect()
    }

    fn parameters_mut(&mut self) -> Vec<(String, ParameterMut<'_, T>)> {
        let beta = self.beta.as_mut().map(|beta| ("bias".into(), ParameterMut::new(beta)));
        [("weight".into(), ParameterMut::new(&mut self.gamma))].into_iter().chain(beta).collect()
    }
}
