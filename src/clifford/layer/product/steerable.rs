//! The steerable geometric product: one weight for each path and feature.

use super::gradients::ProductGradients;
use crate::clifford::batch::multivectors::Multivectors;
use crate::clifford::layer::layer_product::LayerProduct;
use crate::clifford::layer::row_tensors::{check_same_rows, from_rows, to_rows};
use crate::clifford::layer::rows::RowFunction;
use crate::clifford::layer::rows::call::{RowInputs, run};
use crate::error::call;
use crate::layout::Real;
use crate::plan::{Plan, Problem};
use crate::tensor::Tensor;
use crate::{Error, Result};

impl LayerProduct {
    /// The steerable geometric product: $\sum_{p} w_{np} (\hat x_{n} \hat y_{n})\_{p}$ for each feature n, with the
    /// gated operands $\hat x$ and $\hat y$, normalised grade by grade.
    ///
    /// If a row fits a workgroup, one launch reads both operands and writes the result: three passes over memory.
    /// Longer rows take two launches and five passes ([`plan_steerable`](Self::plan_steerable)).
    ///
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::Fill;
    /// use tilewise::clifford::layer::LayerProduct;
    /// use tilewise::clifford::{BladeAxis, Multivectors, Signature};
    ///
    /// let algebra = Signature::CL3;
    /// let x = gpu.random::<f32>([8, 20, 65], Fill::Uniform, 1)?; // blades, rows, features
    /// let x = Multivectors::new(x, &algebra.blades(), BladeAxis::First)?;
    /// let weight = gpu.random::<f32>([65, algebra.paths().len()], Fill::Uniform, 2)?;
    /// let out = LayerProduct::new(algebra).steerable(&x, &x, &weight)?;
    /// assert_eq!(out.tensor().shape(), [8, 20, 65]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Shapes
    /// `x` and `y` have the same rows and features, and all blades along their first or last axis. `weight` is
    /// (features, paths), with the paths of [`Signature::paths`](crate::clifford::Signature::paths). Any strides. The
    /// result has its blades along the first axis.
    /// # Errors
    /// [`Error::Shape`] if the shapes do not match, or there is no row or no feature; [`Error::Input`] if an operand
    /// has another algebra, lacks blades, or has an algebra of more than 5 vectors; [`Error::Limit`] if the device
    /// cannot bind a row or the weights; [`Error::Gpu`] if the operands are on different devices; [`Error::OutOfMemory`] if there
    /// is no memory for the result.
    /// # Precision
    /// Computed in f32, then rounded to `T`. Without a norm $|\delta o_{i}| \le \gamma_{k} M_{i}$. $M_{i}$ is the sum
    /// of the absolute values of the terms of $o_{i}$, each without its gates. $k = 2^d + 8$ for an algebra of d
    /// vectors, or $2^d + 38$ with [`Gate::GeluTanh`](super::super::Gate::GeluTanh).
    ///
    /// With a norm, $k = 2^d + N + 16$ (or $+ 46$) for N features, and the bound is divided by $r_{G}$. To first order
    /// it is $|\delta n_{i}| \le \gamma_{k} (M_{i} / r_{G} + |n_{i}| (\mu + s) / r_{G}^2)$, where $\mu$ is the mean
    /// over features of $\sum_{j \in G} |q_{j} o_{j}| M_{j}$, and $s$ the mean of $\sum_{j \in G} |q_{j}| o_{j}^2$.
    /// $r_{G}$ is small if the terms of a grade cancel in every feature of a row: in rows of one to three random
    /// features, errors reached $7 \cdot 10^{-5}$ of the largest result.
    /// [`LayerProductReference::bounded`](crate::reference::LayerProductReference::bounded) computes the bound of each
    /// value.
    ///
    /// Sums have a fixed order: the same inputs give the same bits.
    pub fn steerable<T: Real>(
        &self,
        x: &Multivectors<T>,
        y: &Multivectors<T>,
        weight: &Tensor<T>,
    ) -> Result<Multivectors<T>> {
        call("LayerProduct::steerable", || {
            let function = RowFunction::Steerable;
            let [rows_x, rows_y] = self.operands(function, x, y, weight)?;
            let inputs = RowInputs { x: &rows_x, y: Some(&rows_y), g: None, w: Some(weight) };
            from_rows(x, &run(function, *self, x.blades(), inputs)?.c)
        })
    }

    /// The backward pass of [`steerable`](Self::steerable) (vector-Jacobian product): the gradients with respect to the
    /// operands and the weights, from the gradient `g` of the result.
    ///
    /// The gates, the product and its norms are computed again, so the forward pass need not store them. One launch
    /// reads x, y and g and writes two gradients: five passes over memory. Longer rows take eight. Each workgroup sums
    /// the gradients of the weights over its rows; these sums are then added in a fixed order.
    ///
    /// # Shapes
    /// As [`steerable`](Self::steerable); `g` has the shape of the result.
    /// # Errors
    /// As [`steerable`](Self::steerable).
    /// # Precision
    /// Summed in f32. With a norm, rounding errors of the product are divided by $r_{G}$ twice:
    /// [`LayerProductReference::bounded_backward`](crate::reference::LayerProductReference::bounded_backward) computes
    /// the bound of each value.
    pub fn steerable_backward<T: Real>(
        &self,
        x: &Multivectors<T>,
        y: &Multivectors<T>,
        weight: &Tensor<T>,
        g: &Multivectors<T>,
    ) -> Result<ProductGradients<T>> {
        call("LayerProduct::steerable_backward", || {
            let function = RowFunction::SteerableBackward;
            let [rows_x, rows_y] = self.operands(function, x, y, weight)?;
            check_same_rows(function.name(), x, g)?;
            let rows_g = to_rows(function.name(), self.signature, g)?;
            let inputs = RowInputs { x: &rows_x, y: Some(&rows_y), g: Some(&rows_g), w: Some(weight) };
            let outputs = run(function, *self, x.blades(), inputs)?;
            let (Some(d), Some(weight)) = (outputs.d, outputs.w) else {
                return Err(Error::device("a gradient was not computed"));
            };
            Ok(ProductGradients { x: from_rows(x, &outputs.c)?, y: from_rows(x, &d)?, weight })
        })
    }

    /// The plan of [`steerable`](Self::steerable).
    ///
    /// # Errors
    /// As [`steerable`](Self::steerable).
    pub fn plan_steerable<T: Real>(
        &self,
        x: &Multivectors<T>,
        y: &Multivectors<T>,
        weight: &Tensor<T>,
    ) -> Result<Plan> {
        call("LayerProduct::plan_steerable", || {
            let function = RowFunction::Steerable;
            let [rows_x, rows_y] = self.operands(function, x, y, weight)?;
            let inputs = RowInputs { x: &rows_x, y: Some(&rows_y), g: None, w: Some(weight) };
            let problem = inputs.problem(function, *self, x.blades())?;
            weight.gpu().plan_with(|caps| problem.explain(caps))
        })
    }

    /// The plan of [`steerable_backward`](Self::steerable_backward).
    ///
    /// # Errors
    /// As [`steerable_backward`](Self::steerable_backward).
    pub fn plan_steerable_backward<T: Real>(
        &self,
        x: &Multivectors<T>,
        y: &Multivectors<T>,
        weight: &Tensor<T>,
        g: &Multivectors<T>,
    ) -> Result<Plan> {
        call("LayerProduct::plan_steerable_backward", || {
            let function = RowFunction::SteerableBackward;
            let [rows_x, rows_y] = self.operands(function, x, y, weight)?;
            check_same_rows(function.name(), x, g)?;
            let rows_g = to_rows(function.name(), self.signature, g)?;
            let inputs = RowInputs { x: &rows_x, y: Some(&rows_y), g: Some(&rows_g), w: Some(weight) };
            let problem = inputs.problem(function, *self, x.blades())?;
            weight.gpu().plan_with(|caps| problem.explain(caps))
        })
    }

    fn operands<T: Real>(
        &self,
        function: RowFunction,
        x: &Multivectors<T>,
        y: &Multivectors<T>,
        weight: &Tensor<T>,
    ) -> Result<[Tensor<T>; 2]> {
        let op = function.name();
        let rows = [to_rows(op, self.signature, x)?, to_rows(op, self.signature, y)?];
        check_same_rows(op, x, y)?;
        let needed = [rows[0].shape()[2], self.signature.path_count()];
        if weight.shape() != needed {
            let rule = "the weight must be (features of the operands, paths of the algebra)";
            return Err(Error::shapes(op, rule, weight.shape(), &needed));
        }
        Ok(rows)
    }
}
