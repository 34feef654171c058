//! Normalisation of each grade of each feature, with learnt gains.

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

/// Divides every grade of every feature by a learnt number between 1 and its norm:
/// $\langle y \rangle_{g} = \langle x \rangle_{g} / (\sigma(a_{n,g}) (\\|x\\|\_{g} - 1) + 1 + 10^{-6})$ (CGENN's
/// `NormalizationLayer`).
///
/// The norm is $(q_{g}^2 + 10^{-16})^{1/4}$ with $q_{g} = \langle \tilde x x \rangle_{0}$ of the grade alone. Versors
/// of any metric leave it unchanged, and it is smooth at 0.
#[derive(Clone, Debug)]
pub struct MvNormalization<T: Real> {
    signature: Signature,
    a: Tensor<T>,
}

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
            check_parameter(FeatureFunction::Normalization, signature, &a, &[signature.dimension() + 1])?;
            Ok(Self { signature, a })
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
        call("MvNormalization::forward", || {
            let rows = operand(FeatureFunction::Normalization, self.signature, x, &self.a)?;
            from_rows(x, &forward(FeatureFunction::Normalization, x.blades(), &rows, &[&self.a])?)
        })
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
        call("MvNormalization::backward", || Gradients::of(|to| self.backward_into(x, g, to)))
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
        call("MvNormalization::backward_into", || {
            check_gradients(FeatureFunction::Normalization.name(), gradients, &self.parameters())?;
            let function = FeatureFunction::Normalization;
            let both = operands(function, self.signature, [x, g], &self.a)?;
            let (dx, da) = backward(function, x.blades(), both.each_ref(), &[&self.a])?;
            gradients.add("a", da)?;
            from_rows(x, &dx)
        })
    }

    /// The algebra.
    #[must_use]
    pub fn signature(&self) -> Signature {
        self.signature
    }

    /// The parameters (features, grades).
    #[must_use]
    pub fn a(&self) -> &Tensor<T> {
        &self.a
    }
}

impl<T: Real> Parameters<T> for MvNormalization<T> {
    fn parameters(&self) -> Vec<(String, &Tensor<T>)> {
        vec![("a".into(), &self.a)]
    }

    fn parameters_mut(&mut self) -> Vec<(String, ParameterMut<'_, T>)> {
        vec![("a".into(), ParameterMut::new(&mut self.a))]
    }
}
