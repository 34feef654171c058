//! The activation of multivectors: every grade times a sigmoid of what versors leave as it is.

use super::descend::step;
use super::features::{FeatureFunction, backward, forward};
use super::normalization::{check_parameter, operand, operands};
use super::operands::like;
use crate::Result;
use crate::clifford::algebra::signature::Signature;
use crate::clifford::batch::multivectors::Multivectors;
use crate::error::call;
use crate::layout::Real;
use crate::tensor::Tensor;

const FUNCTION: FeatureFunction = FeatureFunction::Silu;

/// Multiplies every grade of every feature by a sigmoid of its invariant,
/// $\langle y \rangle_{g} = \langle x \rangle_{g}\, \sigma(a_{n,g} v_{g} + b_{n,g})$, with the scalar part for $v_{0}$ and
/// $v_{g} = q_{g} = \langle \tilde x x \rangle_{0}$ of the grade for the others (CGENN's `MVSiLU`).
#[derive(Clone, Debug)]
pub struct MvSilu<T: Real> {
    signature: Signature,
    a: Tensor<T>,
    b: Tensor<T>,
}

/// The gradients of an activation's parameters, in f32 whatever their type is.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the parameters' names")]
pub struct MvSiluGradients {
    pub a: Tensor<f32>,
    pub b: Tensor<f32>,
}

impl<T: Real> MvSilu<T> {
    /// A layer of these parameters, which it shares and does not copy. CGENN begins with ones and zeros.
    ///
    /// # Shapes
    /// `a` and `b` (features, grades)
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if the parameters are of other axes, or there are none;
    /// [`Error::Gpu`](crate::Error::Gpu) if they live on different devices; [`Error::Input`](crate::Error::Input) of an
    /// algebra of more vectors than [`LAYER_DIMENSION_AT_MOST`](super::LAYER_DIMENSION_AT_MOST).
    pub fn new(signature: Signature, a: Tensor<T>, b: Tensor<T>) -> Result<Self> {
        call("MvSilu::new", || {
            let grades = signature.dimension() + 1;
            check_parameter(FUNCTION, signature, &a, &[grades])?;
            a.same_gpu(FUNCTION.name(), &b)?;
            if a.shape() != b.shape() {
                let rule = "both parameters must be (features, grades), for the same features";
                return Err(crate::Error::shapes(FUNCTION.name(), rule, b.shape(), a.shape()));
            }
            Ok(Self { signature, a, b })
        })
    }

    /// The multivectors, each grade multiplied: one launch.
    ///
    /// # Shapes
    /// `x` (blade, ..., feature), or with blades along the last axis, all blades of the algebra -> (blade, ..., feature),
    /// blades along the first axis.
    /// # Errors
    /// As [`MvNormalization::forward`](super::MvNormalization::forward).
    /// # Precision
    /// Computed in f32, then stored. Where squares of both signs cancel, the invariant is as far off as they are.
    pub fn forward(&self, x: &Multivectors<T>) -> Result<Multivectors<T>> {
        call("MvSilu::forward", || {
            let rows = operand(FUNCTION, self.signature, x, &self.a)?;
            like(x, &forward(FUNCTION, x.blades(), &rows, &[&self.a, &self.b])?)
        })
    }

    /// The gradients of a loss with respect to `x` and the parameters, from `g`, that with respect to the result: two
    /// launches.
    ///
    /// # Shapes
    /// `x` and `g` as [`forward`](Self::forward) -> (blade, ..., feature), and (features, grades) of each parameter, summed
    /// over all rows.
    /// # Errors
    /// As [`MvNormalization::backward`](super::MvNormalization::backward).
    /// # Precision
    /// As [`forward`](Self::forward); the parameters' gradients are not rounded to `T`.
    pub fn backward(
        &self,
        x: &Multivectors<T>,
        g: &Multivectors<T>,
    ) -> Result<(Multivectors<T>, MvSiluGradients)> {
        call("MvSilu::backward", || {
            let both = operands(FUNCTION, self.signature, [x, g], &self.a)?;
            let (dx, both) = backward(FUNCTION, x.blades(), both.each_ref(), &[&self.a, &self.b])?;
            let grades = self.signature.dimension() + 1;
            let gradients = MvSiluGradients { a: both.slice(1, ..grades)?, b: both.slice(1, grades..)? };
            Ok((like(x, &dx)?, gradients))
        })
    }

    /// One step of gradient descent, $a \leftarrow a - \eta\,\partial a$ and $b$ likewise. Clones of the layer keep what
    /// they had.
    ///
    /// # Errors
    /// As [`MvNormalization::descend`](super::MvNormalization::descend).
    /// # Precision
    /// Steps are computed in f32 and rounded to `T`.
    pub fn descend(&mut self, gradients: &MvSiluGradients, rate: f32) -> Result<()> {
        call("MvSilu::descend", || {
            let parameters = vec![(&mut self.a, &gradients.a), (&mut self.b, &gradients.b)];
            step(FUNCTION.name(), parameters, rate)
        })
    }

    /// The algebra.
    #[must_use]
    pub fn signature(&self) -> Signature {
        self.signature
    }

    /// The parameters a and b (features, grades).
    #[must_use]
    pub fn parameters(&self) -> [&Tensor<T>; 2] {
        [&self.a, &self.b]
    }
}
