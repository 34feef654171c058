//! The layers with parameters for each feature: normalisation, layer norm and activation of multivectors.

use super::call::FeatureLayer;
use super::problem::FeatureFunction;
use crate::Result;
use crate::clifford::algebra::signature::Signature;
use crate::clifford::batch::multivectors::Multivectors;
use crate::error::call;
use crate::layout::Real;
use crate::ops::training::{Gradients, ParameterMut, Parameters};
use crate::tensor::Tensor;

/// Divides every grade of every feature by a learnt number between 1 and its norm:
/// $\langle y \rangle_{g} = \langle x \rangle_{g} / (\sigma(a_{n,g}) (\\|x\\|\_{g} - 1) + 1 + 10^{-6})$ (CGENN's
/// `NormalizationLayer`).
///
/// The norm is $(q_{g}^2 + 10^{-16})^{1/4}$ with $q_{g} = \langle \tilde x x \rangle_{0}$ of the grade alone. Versors
/// of any metric leave it unchanged, and it is smooth at 0.
#[derive(Clone, Debug)]
pub struct MvNormalization<T: Real>(FeatureLayer<T>);

impl<T: Real> MvNormalization<T> {
    /// A layer with these parameters, which it shares and does not copy. CGENN starts with zeros, halfway to the norm.
    ///
    /// # Shapes
    /// `a` (features, grades)
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if the parameters have other axes or are empty;
    /// [`Error::Input`](crate::Error::Input) if the algebra has more vectors than
    /// [`MAX_LAYER_DIMENSION`](super::super::MAX_LAYER_DIMENSION).
    pub fn new(signature: Signature, a: Tensor<T>) -> Result<Self> {
        call("MvNormalization::new", || {
            FeatureLayer::new(FeatureFunction::Normalization, signature, a, None).map(Self)
        })
    }

    /// Divides each grade, in one launch.
    ///
    /// # Shapes
    /// `x` (blade, ..., feature), or with blades along the last axis, all blades of the algebra -> (blade, ...,
    /// feature), blades along the first axis.
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) if `x` is of another algebra or lacks blades;
    /// [`Error::Shape`](crate::Error::Shape) if its features are not the layer's, or there is no row;
    /// [`Error::Gpu`](crate::Error::Gpu) if it is on another device; [`Error::OutOfMemory`](crate::Error::OutOfMemory)
    /// or [`Error::Limit`](crate::Error::Limit) if there is no memory for the result.
    /// # Precision
    /// Computed in f32, then rounded to `T`. If squares of both signs cancel, the norm inherits their absolute error. Coefficients
    /// above about $2^{63}$ overflow when they are squared: the norm is then infinite and the result 0, or NaN.
    pub fn forward(&self, x: &Multivectors<T>) -> Result<Multivectors<T>> {
        call("MvNormalization::forward", || self.0.forward(x))
    }

    /// The backward pass (vector-Jacobian product): the gradients of a loss with respect to `x` and the parameters,
    /// from its gradient `g` with respect to the result. Takes two launches.
    ///
    /// # Shapes
    /// `x` and `g` as [`forward`](Self::forward) -> (blade, ..., feature), and (features, grades), summed over all
    /// rows.
    /// # Errors
    /// As [`forward`](Self::forward); [`Error::Input`](crate::Error::Input) or [`Error::Shape`](crate::Error::Shape) if
    /// `g` has other blades or positions than `x`.
    /// # Precision
    /// As [`forward`](Self::forward); the gradients of the parameters are not rounded to `T`.
    pub fn backward(&self, x: &Multivectors<T>, g: &Multivectors<T>) -> Result<(Multivectors<T>, Gradients)> {
        call("MvNormalization::backward", || Gradients::of(|to| self.0.add_gradients(x, g, to)))
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
        call("MvNormalization::backward_into", || self.0.add_gradients(x, g, gradients))
    }

    /// The algebra.
    #[must_use]
    pub fn signature(&self) -> Signature {
        self.0.signature
    }

    /// The parameters (features, grades).
    #[must_use]
    pub fn a(&self) -> &Tensor<T> {
        &self.0.a
    }
}

impl<T: Real> Parameters<T> for MvNormalization<T> {
    fn parameters(&self) -> Vec<(String, &Tensor<T>)> {
        self.0.parameters()
    }

    fn parameters_mut(&mut self) -> Vec<(String, ParameterMut<'_, T>)> {
        self.0.parameters_mut()
    }
}

/// Divides the multivectors of every row by the mean norm of its features: $y_{n} = a_{n} x_{n} / (\frac{1}{N}
/// \sum_{m} \\|x_{m}\\| + 10^{-6})$ (CGENN's `MVLayerNorm`).
///
/// The norm is $(q^2 + 10^{-16})^{1/4}$ with $q = \langle \tilde x x \rangle_{0}$ of all grades together. Versors of
/// any metric leave it unchanged, and it is smooth at 0.
#[derive(Clone, Debug)]
pub struct MvLayerNorm<T: Real>(FeatureLayer<T>);

impl<T: Real> MvLayerNorm<T> {
    /// A layer with these gains, which it shares and does not copy. CGENN starts with ones.
    ///
    /// # Shapes
    /// `a` (features)
    /// # Errors
    /// As [`MvNormalization::new`](MvNormalization::new).
    pub fn new(signature: Signature, a: Tensor<T>) -> Result<Self> {
        call("MvLayerNorm::new", || {
            FeatureLayer::new(FeatureFunction::LayerNorm, signature, a, None).map(Self)
        })
    }

    /// Divides the multivectors, in one launch that reads them twice.
    ///
    /// # Shapes
    /// As [`MvNormalization::forward`](MvNormalization::forward).
    /// # Errors
    /// As [`MvNormalization::forward`](MvNormalization::forward).
    /// # Precision
    /// As [`MvNormalization::forward`](MvNormalization::forward); a row is summed in f32, in a fixed order.
    pub fn forward(&self, x: &Multivectors<T>) -> Result<Multivectors<T>> {
        call("MvLayerNorm::forward", || self.0.forward(x))
    }

    /// The backward pass (vector-Jacobian product): the gradients of a loss with respect to `x` and the gains, from its
    /// gradient `g` with respect to the result. Takes two launches.
    ///
    /// # Shapes
    /// `x` and `g` as [`forward`](Self::forward) -> (blade, ..., feature), and (features), summed over all rows.
    /// # Errors
    /// As [`MvNormalization::backward`](MvNormalization::backward).
    /// # Precision
    /// As [`MvNormalization::backward`](MvNormalization::backward).
    pub fn backward(&self, x: &Multivectors<T>, g: &Multivectors<T>) -> Result<(Multivectors<T>, Gradients)> {
        call("MvLayerNorm::backward", || Gradients::of(|to| self.0.add_gradients(x, g, to)))
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
        call("MvLayerNorm::backward_into", || self.0.add_gradients(x, g, gradients))
    }

    /// The algebra.
    #[must_use]
    pub fn signature(&self) -> Signature {
        self.0.signature
    }

    /// The gains (features).
    #[must_use]
    pub fn a(&self) -> &Tensor<T> {
        &self.0.a
    }
}

impl<T: Real> Parameters<T> for MvLayerNorm<T> {
    fn parameters(&self) -> Vec<(String, &Tensor<T>)> {
        self.0.parameters()
    }

    fn parameters_mut(&mut self) -> Vec<(String, ParameterMut<'_, T>)> {
        self.0.parameters_mut()
    }
}

/// Multiplies every grade of every feature by a sigmoid of its invariant,
/// $\langle y \rangle_{g} = \langle x \rangle_{g}\\, \sigma(a_{n,g} v_{g} + b_{n,g})$ (CGENN's `MVSiLU`). The invariant
/// $v_{0}$ is the scalar part; for other grades it is $v_{g} = q_{g} = \langle \tilde x x \rangle_{0}$ of the grade.
/// Versors leave it unchanged.
#[derive(Clone, Debug)]
pub struct MvSilu<T: Real>(FeatureLayer<T>);

impl<T: Real> MvSilu<T> {
    /// A layer with these parameters, which it shares and does not copy. CGENN starts with a = 1 and b = 0.
    ///
    /// # Shapes
    /// `a` and `b` (features, grades)
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if the parameters have other axes or are empty;
    /// [`Error::Gpu`](crate::Error::Gpu) if they are on different devices; [`Error::Input`](crate::Error::Input) if the
    /// algebra has more vectors than [`MAX_LAYER_DIMENSION`](super::super::MAX_LAYER_DIMENSION).
    pub fn new(signature: Signature, a: Tensor<T>, b: Tensor<T>) -> Result<Self> {
        call("MvSilu::new", || FeatureLayer::new(FeatureFunction::Silu, signature, a, Some(b)).map(Self))
    }

    /// Multiplies each grade, in one launch.
    ///
    /// # Shapes
    /// `x` (blade, ..., feature), or with blades along the last axis, all blades of the algebra -> (blade, ...,
    /// feature), blades along the first axis.
    /// # Errors
    /// As [`MvNormalization::forward`](MvNormalization::forward).
    /// # Precision
    /// Computed in f32, then rounded to `T`. If squares of both signs cancel, the invariant inherits their absolute
    /// error.
    pub fn forward(&self, x: &Multivectors<T>) -> Result<Multivectors<T>> {
        call("MvSilu::forward", || self.0.forward(x))
    }

    /// The backward pass (vector-Jacobian product): the gradients of a loss with respect to `x` and the parameters,
    /// from its gradient `g` with respect to the result. Takes two launches.
    ///
    /// # Shapes
    /// `x` and `g` as [`forward`](Self::forward) -> (blade, ..., feature), and (features, grades) for each parameter,
    /// summed over all rows.
    /// # Errors
    /// As [`MvNormalization::backward`](MvNormalization::backward).
    /// # Precision
    /// As [`forward`](Self::forward); the gradients of the parameters are not rounded to `T`.
    pub fn backward(&self, x: &Multivectors<T>, g: &Multivectors<T>) -> Result<(Multivectors<T>, Gradients)> {
        call("MvSilu::backward", || Gradients::of(|to| self.0.add_gradients(x, g, to)))
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
        call("MvSilu::backward_into", || self.0.add_gradients(x, g, gradients))
    }

    /// The algebra.
    #[must_use]
    pub fn signature(&self) -> Signature {
        self.0.signature
    }

    /// The factor a of the invariants (features, grades).
    #[must_use]
    pub fn a(&self) -> &Tensor<T> {
        &self.0.a
    }

    /// The offset b of the invariants (features, grades).
    #[must_use]
    pub fn b(&self) -> &Tensor<T> {
        self.0.b.as_ref().unwrap_or(&self.0.a)
    }
}

impl<T: Real> Parameters<T> for MvSilu<T> {
    fn parameters(&self) -> Vec<(String, &Tensor<T>)> {
        self.0.parameters()
    }

    fn parameters_mut(&mut self) -> Vec<(String, ParameterMut<'_, T>)> {
        self.0.parameters_mut()
    }
}
