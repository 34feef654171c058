//! Norms of multivectors with learnt gains: of each grade, and of a row of features.

use super::descend::step;
use super::features::{FeatureFunction, backward, forward};
use super::operands::{as_rows, check_alike, check_signature, like};
use crate::clifford::algebra::signature::Signature;
use crate::clifford::batch::multivectors::Multivectors;
use crate::error::{Named, call};
use crate::layout::Real;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// Divides every grade of every feature by something between 1 and its norm, as learnt:
/// $\langle y \rangle_{g} = \langle x \rangle_{g} / (\sigma(a_{n,g}) (\|x\|_{g} - 1) + 1 + 10^{-6})$ (CGENN's `NormalizationLayer`).
///
/// Norms are $(q_{g}^2 + 10^{-16})^{1/4}$ with $q_{g} = \langle \tilde x x \rangle_{0}$ of the grade alone: versors of any
/// metric leave them as they are, and they are smooth at 0.
#[derive(Clone, Debug)]
pub struct MvNormalization<T: Real> {
    signature: Signature,
    a: Tensor<T>,
}

impl<T: Real> MvNormalization<T> {
    /// A layer of these parameters, which it shares and does not copy. CGENN begins with zeros, halfway to the norm.
    ///
    /// # Shapes
    /// `a` (features, grades)
    /// # Errors
    /// [`Error::Shape`] if the parameters are of other axes, or there are none; [`Error::Input`] of an algebra of more
    /// vectors than [`LAYER_DIMENSION_AT_MOST`](super::LAYER_DIMENSION_AT_MOST).
    pub fn new(signature: Signature, a: Tensor<T>) -> Result<Self> {
        call("MvNormalization::new", || {
            check_parameter(FeatureFunction::Normalization, signature, &a, &[signature.dimension() + 1])?;
            Ok(Self { signature, a })
        })
    }

    /// The multivectors, each grade divided: one launch.
    ///
    /// # Shapes
    /// `x` (blade, ..., feature), or with blades along the last axis, all blades of the algebra -> (blade, ..., feature),
    /// blades along the first axis.
    /// # Errors
    /// [`Error::Input`] if `x` is of another algebra or lacks blades; [`Error::Shape`] if its features are not the layer's,
    /// or there is no row; [`Error::Gpu`] if it lives on another device; [`Error::OutOfMemory`], [`Error::Limit`] without
    /// room.
    /// # Precision
    /// Computed in f32, then stored. Where squares of both signs cancel, the norm is as far off as they are.
    pub fn forward(&self, x: &Multivectors<T>) -> Result<Multivectors<T>> {
        call("MvNormalization::forward", || {
            let rows = operand(FeatureFunction::Normalization, self.signature, x, &self.a)?;
            like(x, &forward(FeatureFunction::Normalization, x.blades(), &rows, &[&self.a])?)
        })
    }

    /// The gradients of a loss with respect to `x` and the parameters, from `g`, that with respect to the result: two
    /// launches.
    ///
    /// # Shapes
    /// `x` and `g` as [`forward`](Self::forward) -> (blade, ..., feature), and (features, grades), summed over all rows.
    /// # Errors
    /// As [`forward`](Self::forward); [`Error::Input`], [`Error::Shape`] if `g` has other blades or positions than `x`.
    /// # Precision
    /// As [`forward`](Self::forward); the parameters' gradients are not rounded to `T`.
    pub fn backward(
        &self,
        x: &Multivectors<T>,
        g: &Multivectors<T>,
    ) -> Result<(Multivectors<T>, Tensor<f32>)> {
        call("MvNormalization::backward", || {
            let function = FeatureFunction::Normalization;
            let both = operands(function, self.signature, [x, g], &self.a)?;
            let (dx, of_a) = backward(function, x.blades(), both.each_ref(), &[&self.a])?;
            Ok((like(x, &dx)?, of_a))
        })
    }

    /// One step of gradient descent, $a \leftarrow a - \eta\,\partial a$. Clones of the layer keep what they had.
    ///
    /// # Errors
    /// [`Error::Shape`] if the gradient is of another layer; [`Error::Gpu`] if it lives on another device;
    /// [`Error::OutOfMemory`] without room.
    /// # Precision
    /// The step is computed in f32 and rounded to `T`.
    pub fn descend(&mut self, of_a: &Tensor<f32>, rate: f32) -> Result<()> {
        step(FeatureFunction::Normalization.name(), vec![(&mut self.a, of_a)], rate)
            .named("MvNormalization::descend")
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

/// Divides the multivectors of every row by the mean norm of its features: $y_{n} = a_{n} x_{n} / (\frac{1}{N}
/// \sum_{m} \|x_{m}\| + 10^{-6})$ (CGENN's `MVLayerNorm`).
///
/// Norms are $(q^2 + 10^{-16})^{1/4}$ with $q = \langle \tilde x x \rangle_{0}$ of all grades together: versors of any metric
/// leave them as they are, and they are smooth at 0.
#[derive(Clone, Debug)]
pub struct MvLayerNorm<T: Real> {
    signature: Signature,
    a: Tensor<T>,
}

impl<T: Real> MvLayerNorm<T> {
    /// A layer of these gains, which it shares and does not copy. CGENN begins with ones.
    ///
    /// # Shapes
    /// `a` (features)
    /// # Errors
    /// As [`MvNormalization::new`].
    pub fn new(signature: Signature, a: Tensor<T>) -> Result<Self> {
        call("MvLayerNorm::new", || {
            check_parameter(FeatureFunction::LayerNorm, signature, &a, &[])?;
            Ok(Self { signature, a })
        })
    }

    /// The multivectors, divided: one launch, which reads them twice.
    ///
    /// # Shapes
    /// As [`MvNormalization::forward`].
    /// # Errors
    /// As [`MvNormalization::forward`].
    /// # Precision
    /// As [`MvNormalization::forward`]; sums over a row in f32, in a fixed order.
    pub fn forward(&self, x: &Multivectors<T>) -> Result<Multivectors<T>> {
        call("MvLayerNorm::forward", || {
            let rows = operand(FeatureFunction::LayerNorm, self.signature, x, &self.a)?;
            like(x, &forward(FeatureFunction::LayerNorm, x.blades(), &rows, &[&self.gains()?])?)
        })
    }

    /// The gradients of a loss with respect to `x` and the gains, from `g`, that with respect to the result: two launches.
    ///
    /// # Shapes
    /// `x` and `g` as [`forward`](Self::forward) -> (blade, ..., feature), and (features), summed over all rows.
    /// # Errors
    /// As [`MvNormalization::backward`].
    /// # Precision
    /// As [`MvNormalization::backward`].
    pub fn backward(
        &self,
        x: &Multivectors<T>,
        g: &Multivectors<T>,
    ) -> Result<(Multivectors<T>, Tensor<f32>)> {
        call("MvLayerNorm::backward", || {
            let function = FeatureFunction::LayerNorm;
            let both = operands(function, self.signature, [x, g], &self.a)?;
            let (dx, of_a) = backward(function, x.blades(), both.each_ref(), &[&self.gains()?])?;
            Ok((like(x, &dx)?, of_a.reshape(self.a.shape())?))
        })
    }

    /// One step of gradient descent, as [`MvNormalization::descend`].
    ///
    /// # Errors
    /// As [`MvNormalization::descend`].
    /// # Precision
    /// As [`MvNormalization::descend`].
    pub fn descend(&mut self, of_a: &Tensor<f32>, rate: f32) -> Result<()> {
        step(FeatureFunction::LayerNorm.name(), vec![(&mut self.a, of_a)], rate).named("MvLayerNorm::descend")
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

    /// The gains as (feature, part), a view.
    fn gains(&self) -> Result<Tensor<T>> {
        let (features, stride) = (self.a.shape()[0], self.a.strides()[0]);
        self.a.as_strided(&[features, 1], &[stride, 0], self.a.layout().offset())
    }
}

/// Checks that a parameter is of (features, and these axes).
pub(super) fn check_parameter<T: Real>(
    function: FeatureFunction,
    signature: Signature,
    parameter: &Tensor<T>,
    behind: &[usize],
) -> Result<()> {
    let op = function.name();
    check_signature(op, signature)?;
    match parameter.shape() {
        [features, rest @ ..] if *features > 0 && rest == behind => Ok(()),
        shape => {
            let rule = match behind {
                [] => "the gains must be (features), one at least",
                _ => "the parameters must be (features, grades), with one for each grade",
            };
            Err(Error::shapes(op, rule, shape, behind))
        }
    }
}

/// The operand as (blade, row, feature), of as many features as there are parameters for.
pub(super) fn operand<T: Real>(
    function: FeatureFunction,
    signature: Signature,
    x: &Multivectors<T>,
    parameter: &Tensor<T>,
) -> Result<Tensor<T>> {
    let op = function.name();
    parameter.same_gpu(op, x.tensor())?;
    let rows = as_rows(op, signature, x)?;
    if rows.shape()[2] == parameter.shape()[0] {
        return Ok(rows);
    }
    let rule = "the features must be as many as the layer has parameters for";
    Err(Error::shapes(op, rule, &x.positions(), parameter.shape()))
}

/// The operand and the gradient, which is of the same blades and positions, likewise.
pub(super) fn operands<T: Real>(
    function: FeatureFunction,
    signature: Signature,
    [x, g]: [&Multivectors<T>; 2],
    parameter: &Tensor<T>,
) -> Result<[Tensor<T>; 2]> {
    let rows = operand(function, signature, x, parameter)?;
    check_alike(function.name(), x, g)?;
    Ok([rows, operand(function, signature, g, parameter)?])
}
