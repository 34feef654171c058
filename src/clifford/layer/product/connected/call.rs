//! The calls that compute a fully connected product and its gradients, plain and with options.

use super::super::gradients::ProductGradients;
use super::problem::{ConnectedBackward, ConnectedForward, ConnectedProblem, OP, OperandRounding};
use crate::clifford::batch::multivectors::Multivectors;
use crate::clifford::layer::layer_product::LayerProduct;
use crate::clifford::layer::row_tensors::{check_same_rows, from_rows, to_rows};
use crate::error::call;
use crate::gemm::{GemmKernel, Pin, Tile};
use crate::layout::{DType, Layout, Precision, Real};
use crate::plan::Plan;
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result};

/// A fully connected product with options. [`LayerProduct::connected`] is the plain call.
///
/// ```
/// # fn main() -> tilewise::Result<()> {
/// use tilewise::clifford::layer::{Connected, Gate, GradeNorm, LayerProduct};
/// use tilewise::clifford::{BladeAxis, Multivectors, Signature};
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let algebra = Signature::CL2;
/// let x = gpu.tensor(&[2.0f32, 0.0, 0.0, 0.0], [4, 1, 1])?; // a scalar in one row and feature
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
    /// Results have the rows of this operand.
    operand: &'a Multivectors<T>,
    x: Tensor<T>,
    y: Tensor<T>,
    weight: &'a Tensor<T>,
    problem: ConnectedProblem,
    precision: Precision,
    pin: Pin,
}

impl LayerProduct {
    /// The fully connected product, $o_{c} = \sum_{p} P_{c,p} W_{p}$. Each path p of the geometric product has a matrix
    /// of weights $W_{p}$. $P_{c,p}$ is the sum of the path's terms that end in blade c, feature by feature.
    ///
    /// It is one matrix product. The kernel computes the left operand from `x` and `y` while it stages it in shared
    /// memory, so the $P_{c,p}$ are never stored in device memory. It reads the weight in place, without a copy. If the
    /// product has gates, an earlier launch writes them to device memory, one f32 for each row and feature.
    ///
    /// # Shapes
    /// `x` and `y` (rows.., in) with all blades along their first or last axis, `weight` (paths, in, out) with the
    /// paths of [`Signature::paths`](crate::clifford::Signature::paths) -> (blades, rows.., out). Any strides.
    /// # Errors
    /// [`Error::Shape`] if the weight has other paths or inputs, or if the operands differ in rows or features or have
    /// none; [`Error::Input`] if an operand has another algebra, lacks blades, or has an algebra of more than
    /// [`MAX_LAYER_DIMENSION`](crate::clifford::layer::MAX_LAYER_DIMENSION) vectors; [`Error::Limit`] if the
    /// weight or a row exceeds the device's binding size; [`Error::Gpu`] if the operands are on different devices; [`Error::OutOfMemory`]
    /// if there is no memory for the result.
    /// # Precision
    /// Summed in f32 and rounded once: $|o - o_{64}| \le \gamma_{k} \sum |\hat x_{a} \hat y_{d} w|$ for a sum of k
    /// terms. If tensor cores multiply f16 or bf16, the products of $\hat x$ and $\hat y$ are rounded to that type first. A gate is
    /// within $1.2 \cdot 10^{-7}$, [`Gate::GeluTanh`](crate::clifford::layer::Gate::GeluTanh) within $2 \cdot 10^{-6}$.
    /// The device's [`Precision`] applies to f32 operands, or [`Connected::precision`] if it is set.
    ///
    /// With a norm, the bound is divided by $r_{G}$, as for [`steerable`](Self::steerable). In f32,
    /// [`LayerProductReference::bounded`](crate::reference::LayerProductReference::bounded) computes the bound of each
    /// value.
    pub fn connected<T: Real>(
        &self,
        x: &Multivectors<T>,
        y: &Multivectors<T>,
        weight: &Tensor<T>,
    ) -> Result<Multivectors<T>> {
        call("LayerProduct::connected", || Connected::new(*self, x, y, weight)?.run())
    }

    /// The backward pass of [`connected`](Self::connected) (vector-Jacobian product): the gradients with respect to the
    /// operands and the weight, from the gradient `g` of the result.
    ///
    /// One matrix product computes the gradient of the weight; its kernel computes the $P_{c,p}$ as the product does.
    /// Another computes the gradients of the $P_{c,p}$, $T_{c,p} = g_{c} W_{p}^T$, in device memory. Rows are processed
    /// in chunks, so that T takes at most 128 MiB. A last launch multiplies T by the other operand, term by term, sums
    /// the terms of each position in a fixed order, and applies the derivative of the gates.
    ///
    /// # Shapes
    /// As [`connected`](Self::connected); `g` has the shape of the result. Each gradient has the shape and type of its
    /// operand; the gradient of the weight is f32.
    /// # Errors
    /// As [`connected`](Self::connected); [`Error::Shape`] or [`Error::Input`] if `g` has other rows, features or
    /// blades.
    /// # Precision
    /// As [`connected`](Self::connected), with T in f32. The same inputs give the same bits.
    pub fn connected_backward<T: Real>(
        &self,
        x: &Multivectors<T>,
        y: &Multivectors<T>,
        weight: &Tensor<T>,
        g: &Multivectors<T>,
    ) -> Result<ProductGradients<T>> {
        call("LayerProduct::connected_backward", || Connected::new(*self, x, y, weight)?.backward(g))
    }

    /// The plan of [`connected`](Self::connected).
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
    /// The product of `x` and `y` with this weight.
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
            let [left, right] = [x, y].map(|operand| to_rows(OP, product.signature, operand));
            let (left, right) = (left?, right?);
            check_same_rows(OP, x, y)?;
            left.same_gpu(OP, &right)?;
            left.same_gpu(OP, weight)?;
            let operands = [left.layout(), right.layout()];
            let problem = ConnectedProblem::new(product, x.blades(), operands, weight.layout(), T::DTYPE)?;
            let precision = left.gpu().precision();
            Ok(Self { operand: x, x: left, y: right, weight, problem, precision, pin: Pin::Free })
        })
    }

    /// Sets the precision of f32 products. The default is the device's precision.
    ///
    /// [`Precision::Fast`] rounds the operands and the weight to f16, in one launch each; the backward pass rounds the
    /// gradient too. Tensor cores multiply them if the device has any:
    /// $|o - o_{64}| \le (2^{-9} + 2^{-18} + \gamma_{k}) \sum |\hat x_{a} \hat y_{d} w|$. Unlike the rows of
    /// [`Gemm`](crate::Gemm), they are not scaled first: values below $2^{-14}$ have an error of $2^{-25}$ instead, and
    /// values beyond 65504 become infinite. Gates are computed from the f32 operands. [`Precision::Split`] is computed
    /// as [`Precision::Strict`], which is more precise: the kernel that computes $P_{c,p}$ while staging it does not
    /// split it.
    pub fn precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// Pins the kernel of the matrix products, instead of the fastest predicted one.
    pub fn kernel(self, kernel: GemmKernel) -> Self {
        Self { pin: Pin::Kernel(kernel), ..self }
    }

    /// Pins the tile of the matrix products, instead of the fastest predicted one.
    pub fn tile(self, tile: Tile) -> Self {
        Self { pin: Pin::Tile(tile), ..self }
    }

    /// The checked problem.
    ///
    /// # Errors
    /// As [`LayerProduct::connected`].
    pub fn problem(&self) -> Result<ConnectedForward> {
        let rounding = match (T::DTYPE, self.precision) {
            (DType::F32, Precision::Fast) => OperandRounding::F16,
            _ => OperandRounding::None,
        };
        ConnectedForward::new(self.problem.clone(), rounding, self.pin)
    }

    /// The plan of the product.
    ///
    /// # Errors
    /// As [`LayerProduct::connected`]; [`Error::Unsupported`] if the device cannot run the pinned kernel or tile.
    pub fn plan(&self) -> Result<Plan> {
        call("LayerProduct::plan_connected", || self.gpu().explained(&self.problem()?))
    }

    /// The plan of the backward pass.
    ///
    /// # Errors
    /// As [`plan`](Self::plan); [`Error::Shape`] or [`Error::Input`] if `g` has other rows, features or blades.
    pub fn plan_backward(&self, g: &Multivectors<T>) -> Result<Plan> {
        call("Connected::plan_backward", || {
            self.gpu().explained(&self.backward_problem(self.gradient_rows(g)?.layout())?)
        })
    }

    /// The product.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), and [`Error::OutOfMemory`] if there is no memory for the result.
    pub fn run(&self) -> Result<Multivectors<T>> {
        call("LayerProduct::connected", || {
            let [blades, rows, _, outputs] = self.problem.sizes();
            let inputs = [self.x.view(), self.y.view(), self.weight.view()];
            let [c] = self.gpu().compute(&self.problem()?, &inputs, &[])?;
            from_rows(self.operand, &Tensor::from_output(c, [blades, rows, outputs])?)
        })
    }

    /// The gradients with respect to the operands and the weight, from the gradient `g` of the product.
    ///
    /// # Errors
    /// As [`run`](Self::run); [`Error::Shape`] or [`Error::Input`] if `g` has other rows, features or blades.
    pub fn backward(&self, g: &Multivectors<T>) -> Result<ProductGradients<T>> {
        call("LayerProduct::connected_backward", || {
            let (gpu, g) = (self.gpu(), self.gradient_rows(g)?);
            let inputs = [self.x.view(), self.y.view(), self.weight.view(), g.view()];
            let [x, y, weight] = gpu.compute(&self.backward_problem(g.layout())?, &inputs, &[])?;
            let [x, y] =
                [x, y].map(|made| from_rows(self.operand, &Tensor::from_output(made, self.x.shape())?));
            Ok(ProductGradients { x: x?, y: y?, weight: Tensor::from_output(weight, self.weight.shape())? })
        })
    }

    fn backward_problem(&self, g: &Layout) -> Result<ConnectedBackward> {
        ConnectedBackward::new(self.problem()?, g)
    }

    /// The gradient of the result as (blade, row, out).
    fn gradient_rows(&self, g: &Multivectors<T>) -> Result<Tensor<T>> {
        self.check_gradient(g)?;
        to_rows(OP, self.problem.product.signature, g)
    }

    fn check_gradient(&self, g: &Multivectors<T>) -> Result<()> {
        self.x.same_gpu(OP, g.tensor())?;
        if g.blades() != self.operand.blades() {
            let why =
                format!("the gradient has the blades {}, the operands {}", g.blades(), self.operand.blades());
            return Err(Error::input(OP, why));
        }
        let mut expected = self.operand.positions();
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
