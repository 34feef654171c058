//! The steerable geometric product: one weight for each path and feature.

use super::gradients::ProductGradients;
use crate::Result;
use crate::clifford::batch::multivectors::Multivectors;
use crate::clifford::layer::layer_product::LayerProduct;
use crate::clifford::layer::rows::RowFunction;
use crate::error::call;
use crate::layout::Real;
use crate::plan::Plan;
use crate::tensor::Tensor;

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
    /// [`Error::Shape`](crate::Error::Shape) if the shapes do not match, or there is no row or no feature;
    /// [`Error::Input`](crate::Error::Input) if an operand has another algebra, lacks blades, or has an algebra of more than 5
    /// vectors; [`Error::Limit`](crate::Error::Limit) if the device cannot bind a row or the weights;
    /// [`Error::Gpu`](crate::Error::Gpu) if the operands are on different devices;
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if there is no memory for the result.
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
            self.rows(RowFunction::Steerable, x, [Some(y), None], Some(weight))?.run()
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
            let rows = self.rows(RowFunction::SteerableBackward, x, [Some(y), Some(g)], Some(weight))?;
            let ([x, y], weight) = rows.gradients()?;
            Ok(ProductGradients { x, y, weight })
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
            self.rows(RowFunction::Steerable, x, [Some(y), None], Some(weight))?.plan()
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
            self.rows(RowFunction::SteerableBackward, x, [Some(y), Some(g)], Some(weight))?.plan()
        })
    }
}
