//! The fully connected geometric product: every path of a layer's product has a matrix of weights.

use super::problem::{ConnectedBackward, ConnectedForward, ConnectedProblem, Multiplied, OP};
use crate::clifford::Multivectors;
use crate::clifford::layer::LayerProduct;
use crate::clifford::layer::gradients::ProductGradients;
use crate::clifford::layer::operands::{as_rows, check_alike, like};
use crate::error::call;
use crate::gemm::{GemmKernel, Pin, Tile};
use crate::layout::Precision;
use crate::layout::{DType, Layout, Real};
use crate::plan::{Plan, Problem};
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result};

/// A fully connected product with its options. [`LayerProduct::connected`] is the one without.
///
/// ```
/// # fn main() -> tilewise::Result<()> {
/// use tilewise::clifford::layer::{Connected, Gate, GradeNorm, LayerProduct};
/// use tilewise::clifford::{BladeAxis, Multivectors, Signature};
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let algebra = Signature::CL2;
/// let x = gpu.tensor(&[2.0f32, 0.0, 0.0, 0.0], [4, 1, 1])?; // a scalar, of one row and feature
/// let x = Multivectors::new(x, &algebra.blades(), BladeAxis::First)?;
/// let weight = gpu.tensor(&vec![0.5f32; 10], [10, 1, 1])?;
/// let product = LayerProduct::new(algebra).gate(Gate::None).norm(GradeNorm::None);
/// let squared = Connected::new(product, &x, &x, &weight)?.run()?;
/// assert_eq!(squared.tensor().to_vec()?, [2.0, 0.0, 0.0, 0.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a product is computed by `run`"]
pub struct Connected<'a, T: Real> {
    /// Results have this operand's rows.
    like: &'a Multivectors<T>,
    x: Tensor<T>,
    y: Tensor<T>,
    weight: &'a Tensor<T>,
    problem: ConnectedProblem,
    precision: Precision,
    pin: Pin,
}

impl LayerProduct {
    /// The fully connected product, $o_{c} = \sum_{p} P_{c,p} W_{p}$: each path p of the geometric product has a matrix of
    /// weights, and $P_{c,p}$ has the terms of the path that end in blade c, feature by feature.
    ///
    /// One matrix product computes all of it, whose left operand is formed from `x` and `y` where it is staged in shared
    /// memory: no product of theirs is ever in device memory, and the weight is read where it lies. In front of it a launch
    /// writes the gates, a plane of f32, unless there are none.
    ///
    /// # Shapes
    /// `x` and `y` (rows.., in) with all blades along their first or last axis, `weight` (paths, in, out), the paths as
    /// [`Signature::paths`](crate::clifford::Signature::paths) has them -> (blades, rows.., out). Any strides.
    /// # Errors
    /// [`Error::Shape`] if the weight is of other paths or inputs, the operands differ in rows or features, or have none;
    /// [`Error::Input`] if an operand is of another algebra or lacks blades, or of more than
    /// [`LAYER_DIMENSION_AT_MOST`](super::super::LAYER_DIMENSION_AT_MOST) vectors; [`Error::Limit`] for a tensor that is larger than the device can
    /// bind; [`Error::Gpu`] if the operands live on different devices; [`Error::OutOfMemory`] without room for the result.
    /// # Precision
    /// Sums in f32, stored once: $|o - o_{64}| \le \gamma_{k} \sum |\hat x_{a} \hat y_{d} w|$ for a sum of k terms. Where tensor
    /// cores multiply f16, the products of $\hat x$ and $\hat y$ are rounded to f16 first. A gate is
    /// within $1.2 \cdot 10^{-7}$, [`Gate::GeluTanh`](super::super::Gate::GeluTanh) within $2 \cdot 10^{-6}$.
    /// Operands of f32 are multiplied as the device's [`Precision`] says, or
    /// [`Connected::precision`].
    ///
    /// With a norm, the bound is divided by $r_{G}$, as that of [`steerable`](Self::steerable) is. In f32,
    /// [`LayerProductReference::running`](crate::reference::LayerProductReference::running) computes the bound of each value.
    pub fn connected<T: Real>(
        &self,
        x: &Multivectors<T>,
        y: &Multivectors<T>,
        weight: &Tensor<T>,
    ) -> Result<Multivectors<T>> {
        call("LayerProduct::connected", || Connected::new(*self, x, y, weight)?.run())
    }

    /// The gradients of [`connected`](Self::connected) for its operands and its weights, given the gradient `g` of its result.
    ///
    /// The weight's gradient is one matrix product, formed as the product itself is. Through the weights the gradient comes
    /// back in another, $T_{c,p} = g_{c} W_{p}^T$, which is in device memory, at most 128 MiB of it at a time: rows come
    /// back by as many as that holds. A last launch multiplies it by what each term has beside it, sums all of a position
    /// in one order, and takes it back through the gates.
    ///
    /// # Shapes
    /// As [`connected`](Self::connected); `g` as its result. Gradients are as their operands, that of the weight in f32.
    /// # Errors
    /// As [`connected`](Self::connected); [`Error::Shape`] or [`Error::Input`] if `g` is of other rows, features or blades.
    /// # Precision
    /// As [`connected`](Self::connected), and T in f32. The same bits every time.
    pub fn connected_backward<T: Real>(
        &self,
        x: &Multivectors<T>,
        y: &Multivectors<T>,
        weight: &Tensor<T>,
        g: &Multivectors<T>,
    ) -> Result<ProductGradients<T>> {
        call("LayerProduct::connected_backward", || Connected::new(*self, x, y, weight)?.backward(g))
    }

    /// How [`connected`](Self::connected) is computed.
    ///
    /// # Errors
    /// As [`connected`](Self::connected).
    pub fn plan_connected<T: Real>(
        &self,
        x: &Multivectors<T>,
        y: &Multivectors<T>,
        weight: &Tensor<T>,
    ) -> Result<Plan> {
        call("LayerProduct::plan_connected", || Connected::new(*self, x, y, weight)?.plan())
    }
}

impl<'a, T: Real> Connected<'a, T> {
    /// The product of `x` and `y` with these weights.
    ///
    /// # Errors
    /// As [`LayerProduct::connected`].
    pub fn new(
        product: LayerProduct,
        x: &'a Multivectors<T>,
        y: &Multivectors<T>,
        weight: &'a Tensor<T>,
    ) -> Result<Self> {
        call("LayerProduct::connected", || {
            let [left, right] = [x, y].map(|operand| as_rows(OP, product.signature, operand));
            let (left, right) = (left?, right?);
            check_alike(OP, x, y)?;
            left.same_gpu(OP, &right)?;
            left.same_gpu(OP, weight)?;
            let operands = [left.layout(), right.layout()];
            let problem = ConnectedProblem::new(product, x.blades(), operands, weight.layout(), T::DTYPE)?;
            let precision = left.gpu().precision();
            Ok(Self { like: x, x: left, y: right, weight, problem, precision, pin: Pin::Free })
        })
    }

    /// How precise products of f32 are, whatever the device's precision is.
    ///
    /// [`Precision::Fast`] rounds operands and weight, backward the gradient too, to f16, a launch each, and multiplies these,
    /// on tensor cores where there are some: $|o - o_{64}| \le (2^{-9} + 2^{-18} + \gamma_{k}) \sum |\hat x_{a} \hat y_{d} w|$. They are not scaled, as rows
    /// of a product of matrices are: what is below $2^{-14}$ is off by $2^{-25}$ instead, what is beyond 65504 becomes
    /// infinite. Gates are those of f32. [`Precision::Split`] is computed as [`Precision::Strict`], which is more precise:
    /// what is formed where it is staged comes in one part.
    pub fn precision(mut self, precision: Precision) -> Self {
        self.precision = precision;
        self
    }

    /// Takes this kernel for matrix products, whatever is predicted.
    pub fn kernel(mut self, kernel: GemmKernel) -> Self {
        self.pin = Pin::Kernel(kernel);
        self
    }

    /// Takes this tile for matrix products, whatever is predicted.
    pub fn tile(mut self, tile: Tile) -> Self {
        self.pin = Pin::Tile(tile);
        self
    }

    /// What is to be computed.
    ///
    /// # Errors
    /// As [`LayerProduct::connected`].
    pub fn problem(&self) -> Result<ConnectedForward> {
        let multiplied = match (T::DTYPE, self.precision) {
            (DType::F32, Precision::Fast) => Multiplied::InHalves,
            _ => Multiplied::AsTheyAre,
        };
        ConnectedForward::new(self.problem.clone(), multiplied, self.pin)
    }

    /// How it is computed.
    ///
    /// # Errors
    /// As [`LayerProduct::connected`]; [`Error::Unsupported`] if the device cannot run what is pinned.
    pub fn plan(&self) -> Result<Plan> {
        call("LayerProduct::plan_connected", || self.problem()?.explain(self.gpu().caps()))
    }

    /// How its gradients are computed.
    ///
    /// # Errors
    /// As [`plan`](Self::plan); [`Error::Shape`] or [`Error::Input`] if `g` is of other rows, features or blades.
    pub fn plan_backward(&self, g: &Multivectors<T>) -> Result<Plan> {
        call("Connected::plan_backward", || {
            self.backward_problem(self.gradient_rows(g)?.layout())?.explain(self.gpu().caps())
        })
    }

    /// The product.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), and [`Error::OutOfMemory`] without room for the result.
    pub fn run(&self) -> Result<Multivectors<T>> {
        call("LayerProduct::connected", || {
            let [blades, rows, _, outputs] = self.problem.sizes();
            let inputs = [self.x.view(), self.y.view(), self.weight.view()];
            let [c] = self.gpu().make(&self.problem()?, &inputs, &[])?;
            like(self.like, &Tensor::made(c, [blades, rows, outputs])?)
        })
    }

    /// The gradients, of the gradient `g` of the product.
    ///
    /// # Errors
    /// As [`run`](Self::run); [`Error::Shape`] or [`Error::Input`] if `g` is of other rows, features or blades.
    pub fn backward(&self, g: &Multivectors<T>) -> Result<ProductGradients<T>> {
        call("LayerProduct::connected_backward", || {
            let (gpu, g) = (self.gpu(), self.gradient_rows(g)?);
            let inputs = [self.x.view(), self.y.view(), self.weight.view(), g.view()];
            let [x, y, weight] = gpu.make(&self.backward_problem(g.layout())?, &inputs, &[])?;
            let [x, y] = [x, y].map(|made| like(self.like, &Tensor::made(made, self.x.shape())?));
            Ok(ProductGradients { x: x?, y: y?, weight: Tensor::made(weight, self.weight.shape())? })
        })
    }

    fn backward_problem(&self, g: &Layout) -> Result<ConnectedBackward> {
        ConnectedBackward::new(self.problem()?, g)
    }

    /// The gradient of the result as (blade, row, out).
    fn gradient_rows(&self, g: &Multivectors<T>) -> Result<Tensor<T>> {
        self.check_gradient(g)?;
        as_rows(OP, self.problem.product.signature, g)
    }

    fn check_gradient(&self, g: &Multivectors<T>) -> Result<()> {
        self.x.same_gpu(OP, g.tensor())?;
        if g.blades() != self.like.blades() {
            let why = format!("the gradient is of {}, not of {}", g.blades(), self.like.blades());
            return Err(Error::input(OP, why));
        }
        let mut expected = self.like.positions();
        if let Some(last) = expected.last_mut() {
            *last = self.weight.shape()[2];
        }
        if g.positions() == expected {
            return Ok(());
        }
        let rule = "the gradient must have the operands' rows and the weight's outputs";
        Err(Error::shapes(OP, rule, &g.positions(), &expected))
    }

    fn gpu(&self) -> &Gpu {
        self.x.gpu()
    }
}
