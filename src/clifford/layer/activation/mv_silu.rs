//! The activation `MvSilu` of multivectors: every grade is multiplied by a sigmoid of its invariant.

use crate::Result;
use crate::clifford::algebra::signature::Signature;
use crate::clifford::batch::multivectors::Multivectors;
use crate::clifford::layer::features::FeatureFunction;
use crate::clifford::layer::features::run::{backward, check_parameter, forward, operand, operands};
use crate::clifford::layer::row_tensors::from_rows;
use crate::error::call;
use crate::layout::Real;
use crate::ops::Rate;
use crate::ops::descent::{Trained, gradient_step};
use crate::tensor::{Parameters, Tensor};

const FUNCTION: FeatureFunction = FeatureFunction::Silu;

/// Multiplies every grade of every feature by a sigmoid of its invariant,
/// $\langle y \rangle_{g} = \langle x \rangle_{g}\\, \sigma(a_{n,g} v_{g} + b_{n,g})$ (CGENN's `MVSiLU`). The invariant
/// $v_{0}$ is the scalar part; for other grades it is $v_{g} = q_{g} = \langle \tilde x x \rangle_{0}$ of the grade.
/// Versors leave it unchanged.
#[derive(Clone, Debug)]
pub struct MvSilu<T: Real> {
    signature: Signature,
    a: Tensor<T>,
    b: Tensor<T>,
}

/// The gradients of an activation's parameters. They are f32 for every type of layer.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the parameters' names")]
pub struct MvSiluGradients {
    pub a: Tensor<f32>,
    pub b: Tensor<f32>,
}

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
        call("MvSilu::new", || {
            let grades = signature.dimension() + 1;
            check_parameter(FUNCTION, signature, &a, &[grades])?;
            a.same_gpu(FUNCTION.name(), &b)?;
            if a.shape() != b.shape() {
                let rule = "both parameters must be (features, grades), with the same number of features";
                return Err(crate::Error::shapes(FUNCTION.name(), rule, b.shape(), a.shape()));
            }
            Ok(Self { signature, a, b })
        })
    }

    /// Multiplies each grade, in one launch.
    ///
    /// # Shapes
    /// `x` (blade, ..., feature), or with blades along the last axis, all blades of the algebra -> (blade, ...,
    /// feature), blades along the first axis.
    /// # Errors
    /// As [`MvNormalization::forward`](super::super::MvNormalization::forward).
    /// # Precision
    /// Computed in f32, then rounded to `T`. If squares of both signs cancel, the invariant inherits their absolute
    /// error.
    pub fn forward(&self, x: &Multivectors<T>) -> Result<Multivectors<T>> {
        call("MvSilu::forward", || {
            let rows = operand(FUNCTION, self.signature, x, &self.a)?;
            from_rows(x, &forward(FUNCTION, x.blades(), &rows, &[&self.a, &self.b])?)
        })
    }

    /// The backward pass (vector-Jacobian product): the gradients of a loss with respect to `x` and the parameters,
    /// from its gradient `g` with respect to the result. Takes two launches.
    ///
    /// # Shapes
    /// `x` and `g` as [`forward`](Self::forward) -> (blade, ..., feature), and (features, grades) for each parameter,
    /// summed over all rows.
    /// # Errors
    /// As [`MvNormalization::backward`](super::super::MvNormalization::backward).
    /// # Precision
    /// As [`forward`](Self::forward); the gradients of the parameters are not rounded to `T`.
    pub fn backward(
        &self,
        x: &Multivectors<T>,
        g: &Multivectors<T>,
    ) -> Result<(Multivectors<T>, MvSiluGradients)> {
        call("MvSilu::backward", || {
            let rows = operands(FUNCTION, self.signature, [x, g], &self.a)?;
            let (dx, both) = backward(FUNCTION, x.blades(), rows.each_ref(), &[&self.a, &self.b])?;
            let grades = self.signature.dimension() + 1;
            let gradients = MvSiluGradients { a: both.slice(1, ..grades)?, b: both.slice(1, grades..)? };
            Ok((from_rows(x, &dx)?, gradients))
        })
    }

    /// One step of gradient descent, $a \leftarrow a - \eta\\,\partial a$ and $b$ likewise. The rate is a
    /// number, or a tensor of one element.
    ///
    /// For updates in place and in a replay see [`MvNormalization::descend`](super::super::MvNormalization::descend).
    ///
    /// # Errors
    /// As [`MvNormalization::descend`](super::super::MvNormalization::descend).
    /// # Precision
    /// Computed in f32 and rounded to `T`.
    pub fn descend<'a>(&mut self, gradients: &MvSiluGradients, rate: impl Into<Rate<'a>>) -> Result<()> {
        call("MvSilu::descend", || {
            let MvSiluGradients { a, b } = gradients;
            let trained = vec![Trained::whole(&mut self.a, a), Trained::whole(&mut self.b, b)];
            gradient_step(FUNCTION.name(), trained, rate.into())
        })
    }

    /// The algebra.
    #[must_use]
    pub fn signature(&self) -> Signature {
        self.signature
    }

    /// The factor a of the invariants (features, grades).
    #[must_use]
    pub fn a(&self) -> &Tensor<T> {
        &self.a
    }

    /// The offset b of the invariants (features, grades).
    #[must_use]
    pub fn b(&self) -> &Tensor<T> {
        &self.b
    }
}

impl<T: Real> Parameters<T> for MvSilu<T> {
    fn parameters(&self) -> Vec<(&'static str, &Tensor<T>)> {
        vec![("a", &self.a), ("b", &self.b)]
    }
}
