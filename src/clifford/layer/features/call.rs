//! What the layers with parameters for each feature share: their parameters, checked, and the calls on the device.

use super::problem::{FeatureFunction, FeaturesProblem};
use crate::clifford::algebra::signature::Signature;
use crate::clifford::batch::multivectors::Multivectors;
use crate::clifford::layer::row_tensors::{check_same_rows, check_signature, from_rows, to_rows};
use crate::gpu::View;
use crate::layout::{Layout, Real};
use crate::ops::training::{Gradients, ParameterMut, check_gradients};
use crate::tensor::Tensor;
use crate::{Error, Result};

/// A function of multivectors and its parameters: `a` (features) or (features, grades), and `b` like `a` if it has two.
#[derive(Clone, Debug)]
pub(super) struct FeatureLayer<T: Real> {
    function: FeatureFunction,
    pub(super) signature: Signature,
    pub(super) a: Tensor<T>,
    pub(super) b: Option<Tensor<T>>,
}

impl<T: Real> FeatureLayer<T> {
    /// Checks the parameters.
    pub(super) fn new(
        function: FeatureFunction,
        signature: Signature,
        a: Tensor<T>,
        b: Option<Tensor<T>>,
    ) -> Result<Self> {
        let (op, grades) = (function.name(), [signature.dimension() + 1]);
        check_signature(op, signature)?;
        let (trailing, rule) = if function.has_row_mean() {
            (&[][..], "the gains must be (features), with at least one feature")
        } else {
            (&grades[..], "the parameters must be (features, grades), with every grade of the algebra")
        };
        if !matches!(a.shape(), [features, rest @ ..] if *features > 0 && rest == trailing) {
            return Err(Error::shapes(op, rule, a.shape(), trailing));
        }
        if let Some(b) = &b {
            a.same_gpu(op, b)?;
            if a.shape() != b.shape() {
                let rule = "both parameters must be (features, grades), with the same number of features";
                return Err(Error::shapes(op, rule, b.shape(), a.shape()));
            }
        }
        Ok(Self { function, signature, a, b })
    }

    /// The function of `x`, in one launch.
    pub(super) fn forward(&self, x: &Multivectors<T>) -> Result<Multivectors<T>> {
        let rows = self.rows(x)?;
        let made = Tensor::computed(
            rows.gpu(),
            &self.problem(x, &rows, None)?,
            &self.views(&[&rows]),
            &[],
            rows.shape(),
        )?;
        from_rows(x, &made)
    }

    /// The gradient of `x` from that of the result, `g`. Adds the gradients of the parameters. A second launch sums these over
    /// strips of rows, in a fixed order.
    pub(super) fn add_gradients(
        &self,
        x: &Multivectors<T>,
        g: &Multivectors<T>,
        gradients: &mut Gradients,
    ) -> Result<Multivectors<T>> {
        check_gradients(self.function.name(), gradients, &self.parameters())?;
        let rows = self.rows(x)?;
        check_same_rows(self.function.name(), x, g)?;
        let of_g = self.rows(g)?;
        let problem = self.problem(x, &rows, Some(of_g.layout()))?;
        let [dx, all] = rows.gpu().compute(&problem, &self.views(&[&rows, &of_g]), &[])?;
        // (features, parts of all parameters)
        let all = Tensor::from_output(all, &problem.sums()[1..])?;
        let parts = self.function.parts(x.blades());
        for (i, (name, parameter)) in self.parameters().into_iter().enumerate() {
            let own = all.slice(1, i * parts..(i + 1) * parts)?;
            let is_like = own.shape() == parameter.shape();
            gradients.add(name, if is_like { own } else { own.reshape(parameter.shape())? })?;
        }
        from_rows(x, &Tensor::from_output(dx, rows.shape())?)
    }

    /// An operand as (blade, row, feature). Checks that it has the features of the parameters.
    fn rows(&self, x: &Multivectors<T>) -> Result<Tensor<T>> {
        let op = self.function.name();
        self.a.same_gpu(op, x.tensor())?;
        let rows = to_rows(op, self.signature, x)?;
        if rows.shape()[2] == self.a.shape()[0] {
            return Ok(rows);
        }
        let rule = "the operand must have the number of features that the layer has parameters for";
        Err(Error::shapes(op, rule, &x.positions(), self.a.shape()))
    }

    fn problem(&self, x: &Multivectors<T>, rows: &Tensor<T>, g: Option<&Layout>) -> Result<FeaturesProblem> {
        let own = [Some(&self.a), self.b.as_ref()].into_iter().flatten().map(|of| match of.shape() {
            [_] => of.layout().unsqueeze(1),
            _ => Ok(*of.layout()),
        });
        let own = own.collect::<Result<Vec<_>>>()?;
        let own: Vec<&Layout> = own.iter().collect();
        FeaturesProblem::new(self.function, x.blades(), rows.layout(), g, &own, T::DTYPE)
    }

    /// These operands and the parameters.
    fn views<'a>(&'a self, operands: &[&'a Tensor<T>]) -> Vec<View<'a>> {
        operands.iter().copied().chain([&self.a]).chain(&self.b).map(Tensor::view).collect()
    }

    /// The parameters by name.
    pub(super) fn parameters(&self) -> Vec<(String, &Tensor<T>)> {
        let b = self.b.iter().map(|b| ("b".into(), b));
        [("a".into(), &self.a)].into_iter().chain(b).collect()
    }

    /// The same, to change them.
    pub(super) fn parameters_mut(&mut self) -> Vec<(String, ParameterMut<'_, T>)> {
        let b = self.b.iter_mut().map(|b| ("b".into(), ParameterMut::new(b)));
        [("a".into(), ParameterMut::new(&mut self.a))].into_iter().chain(b).collect()
    }
}
