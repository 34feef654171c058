//! The steerable geometric product: a weight for each path and feature.

use super::form::LayerProduct;
use super::gradients::ProductGradients;
use super::operands::{as_rows, check_alike, like};
use super::rows::{Given, RowFunction, run};
use crate::clifford::batch::multivectors::Multivectors;
use crate::error::call;
use crate::layout::Real;
use crate::plan::{Plan, Problem};
use crate::tensor::Tensor;
use crate::{Error, Result};

impl LayerProduct {
    /// The steerable geometric product: feature by feature $\sum_{p} w_{np} (\hat x_{n} \hat y_{n})_{p}$ with the gated operands
    /// $\hat x$ and $\hat y$, normalised grade by grade.
    ///
    /// One launch reads both operands and writes the result, three passes, as long as a workgroup has room for a row; two
    /// launches take five beyond that ([`plan_steerable`](Self::plan_steerable)).
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
    /// `x` and `y` of the same rows and features, with all blades along either axis; `weight` (features, paths), with the
    /// paths of [`Signature::paths`](crate::clifford::Signature::paths). Any strides. The result has its blades first.
    /// # Errors
    /// [`Error::Shape`] if shapes do not go together, or there is no row or no feature; [`Error::Input`] if an operand is of
    /// another algebra or has some blades only, or of more than 5 vectors; [`Error::Limit`] of a tensor that the device cannot
    /// bind; [`Error::Gpu`] of operands on different devices; [`Error::OutOfMemory`] without room for the result.
    /// # Precision
    /// Computed in f32, then stored. Without a norm $|\delta o_{i}| \le \gamma_{k} M_{i}$. $M_{i}$ is the sum of the absolute values of
    /// the terms of $o_{i}$, each without its gates. $k = 2^d + 8$ for an algebra of d vectors, or $2^d + 38$ with
    /// [`Gate::GeluTanh`](super::Gate::GeluTanh).
    ///
    /// With a norm, $k = 2^d + N + 16$ (or $+ 46$) for N features, and the bound is divided by $r_{G}$. To first order it is
    /// $|\delta n_{i}| \le \gamma_{k} (M_{i} / r_{G} + |n_{i}| (\mu + s) / r_{G}^2)$, where $\mu$ is the mean over features of
    /// $\sum_{j \in G} |q_{j} o_{j}| M_{j}$, and $s$ that of $\sum_{j \in G} |q_{j}| o_{j}^2$. $r_{G}$ is small where the terms of a
    /// grade cancel in every feature of a row: in rows of one to three random features, errors reached $7 \cdot 10^{-5}$ of the
    /// largest result.
    /// [`LayerProductReference::running`](crate::reference::LayerProductReference::running) computes the bound of each value.
    ///
    /// Fixed order: the same inputs have the same bits.
    pub fn steerable<T: Real>(
        &self,
        x: &Multivectors<T>,
        y: &Multivectors<T>,
        weight: &Tensor<T>,
    ) -> Result<Multivectors<T>> {
        call("LayerProduct::steerable", || {
            let function = RowFunction::Steerable;
            let [rows_x, rows_y] = self.operands(function, x, y, weight)?;
            let given = Given { x: &rows_x, y: Some(&rows_y), g: None, w: Some(weight) };
            like(x, &run(function, *self, x.blades(), given)?.c)
        })
    }

    /// The gradients of [`steerable`](Self::steerable) for its operands and its weights, given the gradient `g` of its result.
    ///
    /// Gates, the product and its norms are computed again and nothing else need be kept: x, y and g are read and two gradients
    /// written, five passes, where the forward takes three, and eight where it takes five. Weight gradients are summed by each
    /// workgroup over its rows, then over workgroups in a fixed order.
    ///
    /// # Shapes
    /// As [`steerable`](Self::steerable); `g` as its result.
    /// # Errors
    /// As [`steerable`](Self::steerable).
    /// # Precision
    /// Sums in f32 too. With a norm, rounding errors of the product are divided by $r_{G}$ twice:
    /// [`LayerProductReference::running_backward`](crate::reference::LayerProductReference::running_backward) computes the bound
    /// of each value.
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
            check_alike(function.name(), x, g)?;
            let rows_g = as_rows(function.name(), self.signature, g)?;
            let given = Given { x: &rows_x, y: Some(&rows_y), g: Some(&rows_g), w: Some(weight) };
            let made = run(function, *self, x.blades(), given)?;
            let (Some(d), Some(weight)) = (made.d, made.w) else {
                return Err(Error::device("a gradient was not computed"));
            };
            Ok(ProductGradients { x: like(x, &made.c)?, y: like(x, &d)?, weight })
        })
    }

    /// How [`steerable`](Self::steerable) is computed.
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
            let given = Given { x: &rows_x, y: Some(&rows_y), g: None, w: Some(weight) };
            given.problem(function, *self, x.blades())?.explain(weight.gpu().caps())
        })
    }

    /// How [`steerable_backward`](Self::steerable_backward) is computed.
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
            check_alike(function.name(), x, g)?;
            let rows_g = as_rows(function.name(), self.signature, g)?;
            let given = Given { x: &rows_x, y: Some(&rows_y), g: Some(&rows_g), w: Some(weight) };
            given.problem(function, *self, x.blades())?.explain(weight.gpu().caps())
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
        let rows = [as_rows(op, self.signature, x)?, as_rows(op, self.signature, y)?];
        check_alike(op, x, y)?;
        let wanted = [rows[0].shape()[2], self.signature.paths().len()];
        if weight.shape() != wanted {
            let rule = "the weights must be (features, paths of the algebra)";
            return Err(Error::shapes(op, rule, weight.shape(), &wanted));
        }
        Ok(rows)
    }
}
