//! Layer norm of multivectors: all features of a row are divided by their mean norm.

use crate::Result;
use crate::clifford::algebra::signature::Signature;
use crate::clifford::batch::multivectors::Multivectors;
use crate::clifford::layer::features::FeatureFunction;
use crate::clifford::layer::features::call::{backward, check_parameter, forward, operand, operands};
use crate::clifford::layer::row_tensors::from_rows;
use crate::error::call;
use crate::layout::Real;
use crate::ops::training::{Gradients, ParameterMut, Parameters, check_gradients};
use crate::tensor::Tensor;

/// Divides the multivectors of every row by the mean norm of its features: $y_{n} = a_{n} x_{n} / (\frac{1}{N}
/// \sum_{m} \\|x_{m}\\| + 10^{-6})$ (CGENN's `MVLayerNorm`).
///
/// The norm is $(q^2 + 10^{-16})^{1/4}$ with $q = \langle \tilde x x \rangle_{0}$ of all grades together. Versors of
/// any metric leave it unchanged, and it is smooth at 0.
#[derive(Clone, Debug)]
pub struct MvLayerNorm<T: Real> {
    signature: Signature,
    a: Tensor<T>,
}

impl<T: Real> MvLayerNorm<T> {
    /// A layer with these gains, which it shares and does not copy. CGENN starts with ones.
    ///
    /// # Shapes
    /// `a` (features)
    /// # Errors
    /// As [`MvNormalization::new`](super::MvNormalization::new).
    pub fn new(signature: Signature, a: Tensor<T>) -> Result<Self> {
        call("MvLayerNorm::new", || {
            check_parameter(FeatureFunction::LayerNorm, signature, &a, &[])?;
            Ok(Self { signature, a })
        })
    }

    /// Divides the multivectors, in one launch that reads them twice.
    ///
    /// # Shapes
    /// As [`MvNormalization::forward`](super::MvNormalization::forward).
    /// # Errors
    /// As [`MvNormalization::forward`](super::MvNormalization::forward).
    /// # Precision
    /// As [`MvNormalization::forward`](super::MvNormalization::forward); a row is summed in f32, in a fixed order.
    pub fn forward(&self, x: &Multivectors<T>) -> Result<Multivectors<T>> {
        call("MvLayerNorm::forward", || {
            let rows = operand(FeatureFunction::LayerNorm, self.signature, x, &self.a)?;
            from_rows(x, &forward(FeatureFunction::LayerNorm, x.blades(), &rows, &[&self.gains()?])?)
        })
    }

    /// The backward pass (vector-Jacobian product): the gradients of a loss with respect to `x` and the gains, from its
    /// gradient `g` with respect to the result. Takes two launches.
    ///
    /// # Shapes
    /// `x` and `g` as [`forward`](Self::forward) -> (blade, ..., feature), and (features), summed over all rows.
    /// # Errors
    /// As [`MvNormalization::backward`](super::MvNormalization::backward).
    /// # Precision
    /// As [`MvNormalization::backward`](super::MvNormalization::backward).
    pub fn backward(&self, x: &Multivectors<T>, g: &Multivectors<T>) -> Result<(Multivectors<T>, Gradients)> {
        call("MvLayerNorm::backward", || Gradients::of(|to| self.backward_into(x, g, to)))
    }

    /// As [`backward`](Self::backward), but adds the gradients of the parameters to `gradients`.
    ///
    /// # Shapes
    /// As [`backward`](Self::backward).
    /// # Errors
    /// As [`backward`](Self::backward), and as [`Parameters::pairs`] and [`Gradients::add`] for `gradients`.
    /// # Precision
    /// As [`backward`](Self::backward).
    pub fn backward_into(
        &self,
        x: &Multivectors<T>,
        g: &Multivectors<T>,
        gradients: &mut Gradients,
    ) -> Result<Multivectors<T>> {
        call("MvLayerNorm::backward_into", || {
            check_gradients(FeatureFunction::LayerNorm.name(), gradients, &self.parameters())?;
            let function = FeatureFunction::LayerNorm;
            let both = operands(function, self.signature, [x, g], &self.a)?;
            let (dx, da) = backward(function, x.blades(), both.each_ref(), &[&self.gains()?])?;
            gradients.add("a", da.reshape(self.a.shape())?)?;
            from_rows(x, &dx)
        })
    }

    /// The algebra.
    #[must_use]
    pub fn signature(&self) -> Signature {
        self.signature
    }

    /// The gains (features).
    #[must_use]
    pub fn a(&self) -> &Tensor<T> {
        &self.a
    }

    /// The gains as (feature, 1), a view.
    fn gains(&self) -> Result<Tensor<T>> {
        let (features, stride) = (self.a.shape()[0], self.a.strides()[0]);
        self.a.as_strided(&[features, 1], &[stride, 0], self.a.layout().offset())
    }
}

impl<T: Real> Parameters<T> for MvLayerNorm<T> {
    fn parameters(&self) -> Vec<(String, &Tensor<T>)> {
        vec![("a".into(), &self.a)]
    }

    fn parameters_mut(&mut self) -> Vec<(String, ParameterMut<'_, T>)> {
        vec![("a".into(), ParameterMut::new(&mut self.a))]
    }
}
