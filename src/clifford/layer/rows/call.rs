//! Runs a function of rows on the device: what the calls share, and the grade norm on its own, for a product that was computed
//! without one.

use super::problem::{RowFunction, RowOperandLayouts, RowProblem};
use crate::clifford::batch::multivectors::Multivectors;
use crate::clifford::layer::grade_norm::GradeNorm;
use crate::clifford::layer::layer_product::LayerProduct;
use crate::clifford::layer::row_tensors::{check_same_rows, from_rows, to_rows};
use crate::error::call;
use crate::gpu::View;
use crate::layout::Real;
use crate::plan::Plan;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// A function of rows and its operands.
pub(in super::super) struct RowCall<'a, T: Real> {
    problem: RowProblem,
    x: &'a Multivectors<T>,
    /// X, Y and the gradient G, (blade, row, feature).
    rows: [Option<Tensor<T>>; 3],
    /// (feature, path)
    weight: Option<&'a Tensor<T>>,
}

impl LayerProduct {
    /// A function of `x`, and of Y and the gradient G if it has them.
    pub(in super::super) fn rows<'a, T: Real>(
        &self,
        function: RowFunction,
        x: &'a Multivectors<T>,
        [y, g]: [Option<&Multivectors<T>>; 2],
        weight: Option<&'a Tensor<T>>,
    ) -> Result<RowCall<'a, T>> {
        let op = function.name();
        let of_x = to_rows(op, self.signature, x)?;
        let like_x = |of: &Multivectors<T>| {
            let rows = to_rows(op, self.signature, of)?;
            check_same_rows(op, x, of).map(|()| rows)
        };
        let y = y.map(like_x).transpose()?;
        let needed = [of_x.shape()[2], self.signature.path_count()];
        if let Some(weight) = weight.filter(|weight| weight.shape() != needed) {
            let rule = "the weight must be (features of the operands, paths of the algebra)";
            return Err(Error::shapes(op, rule, weight.shape(), &needed));
        }
        let g = g.map(like_x).transpose()?;
        let others = [y.as_ref(), g.as_ref(), weight];
        others.into_iter().flatten().try_for_each(|other| of_x.same_gpu(op, other).map(drop))?;
        let [of_y, of_g, w] = others.map(|of| of.map(Tensor::layout));
        let layouts = RowOperandLayouts { x: of_x.layout(), y: of_y, g: of_g, w };
        let problem = RowProblem::new(function, *self, x.blades(), layouts, T::DTYPE)?;
        Ok(RowCall { problem, x, rows: [Some(of_x), y, g], weight })
    }

    /// Divides each grade of each row by its norm ([`GradeNorm`]). If a row fits a workgroup, one launch makes two
    /// passes over memory, otherwise two launches make three. With [`GradeNorm::None`] the result is the operand.
    ///
    /// # Shapes
    /// `o` has all blades along its first or last axis; the last of its other axes is the features. The result has its
    /// blades along the first axis.
    /// # Errors
    /// As [`steerable`](Self::steerable).
    /// # Precision
    /// Computed in f32, then rounded to `T`: $|\delta n_{i}| \le \gamma_{k} |n_{i}| (1 + s / r_{G}^2)$ to first order.
    /// $s$ is the mean over features of $\sum_{i \in G} |q_{i}| o_{i}^2$, and k = blades of the grade + features + 12.
    /// For `Rms`, $s \le r_{G}^2$. For `Invariant`, squares of both signs may cancel, so that $s$ may exceed $r_{G}^2$;
    /// $r_{G}$ is at least 0.1.
    pub fn normalized<T: Real>(&self, o: &Multivectors<T>) -> Result<Multivectors<T>> {
        call("LayerProduct::normalized", || {
            self.rows(RowFunction::Normalize, o, [None, None], None)?.normalized()
        })
    }

    /// The backward pass of [`normalized`](Self::normalized): the gradient with respect to `o`, from the gradient `g`
    /// of the result.
    ///
    /// # Shapes
    /// `g` has the shape of the result.
    /// # Errors
    /// As [`steerable`](Self::steerable).
    /// # Precision
    /// Computed in f32, then rounded to `T`:
    /// [`LayerProductReference::bounded_normalized_backward`](crate::reference::LayerProductReference::bounded_normalized_backward)
    /// computes the bound of each value.
    pub fn normalized_backward<T: Real>(
        &self,
        o: &Multivectors<T>,
        g: &Multivectors<T>,
    ) -> Result<Multivectors<T>> {
        call("LayerProduct::normalized_backward", || {
            self.rows(RowFunction::NormalizeBackward, o, [None, Some(g)], None)?.normalized()
        })
    }
}

impl<T: Real> RowCall<'_, T> {
    fn views(&self) -> Vec<View<'_>> {
        self.rows.iter().flatten().chain(self.weight).map(Tensor::view).collect()
    }

    /// The result of a function that has one.
    pub(in super::super) fn run(&self) -> Result<Multivectors<T>> {
        let (gpu, shape) = (self.x.tensor().gpu(), self.problem.shape());
        from_rows(self.x, &Tensor::computed(gpu, &self.problem, &self.views(), &[], shape)?)
    }

    /// The result of a norm. Without one, the function is the identity of its last operand.
    fn normalized(&self) -> Result<Multivectors<T>> {
        match self.rows.iter().flatten().next_back() {
            Some(last) if self.problem.product.norm == GradeNorm::None => {
                from_rows(self.x, &last.contiguous()?)
            }
            _ => self.run(),
        }
    }

    /// The gradients of X, Y and the weights.
    pub(in super::super) fn gradients(&self) -> Result<([Multivectors<T>; 2], Tensor<f32>)> {
        let [blades, rows, features] = self.problem.shape();
        let [dx, dy, dw] = self.x.tensor().gpu().compute(&self.problem, &self.views(), &[])?;
        let [dx, dy] =
            [dx, dy].map(|made| from_rows(self.x, &Tensor::from_output(made, [blades, rows, features])?));
        let dw = Tensor::from_output(dw, [features, self.problem.signature().path_count()])?;
        Ok(([dx?, dy?], dw))
    }

    pub(in super::super) fn plan(&self) -> Result<Plan> {
        self.x.tensor().gpu().explained(&self.problem)
    }
}
