//! The activation `MvSilu` of multivectors: every grade is multiplied by a sigmoid of its invariant.

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
    pub fn backward(&self, x: &Multivectors<T>, g: &Multivectors<T>) -> Result<(Multivectors<T>, Gradients)> {
        call("MvSilu::backward", || Gradients::of(|to| self.backward_into(x, g, to)))
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
        call("MvSilu::backward_into", || {
            check_gradients(FUNCTION.name(), gradients, &self.parameters())?;
            let rows = operands(FUNCTION, self.signature, [x, g], &self.a)?;
            let (dx, both) = backward(FUNCTION, x.blades(), rows.each_ref(), &[&self.a, &self.b])?;
            let grades = self.signature.dimension() + 1;
            gradients.add("a", both.slice(1, ..grades)?)?;
            gradients.add("b", both.slice(1, grades..)?)?;
            from_rows(x, &dx)
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
    fn parameters(&self) -> Vec<(String, &Tensor<T>)> {
        vec![("a".into(), &self.a), ("b".into(), &self.b)]
    }

    fn parameters_mut(&mut self) -> Vec<(String, ParameterMut<'_, T>)> {
        vec![("a".into(), ParameterMut::new(&mut self.a)), ("b".into(), ParameterMut::new(&mut self.b))]
    }
}
