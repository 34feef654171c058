//! The fully connected geometric product: every path of a layer's product has a matrix of weights.

use super::super::multivectors::Multivectors;
use super::connected_back::{ConnectedBackProblem, plan_connected_back};
use super::connected_problem::{ConnectedProblem, OP, Tabled, plan_connected};
use super::factors::{Factor, Factors, Multiplied};
use super::gates::{gates, plan_gates};
use super::gradients::ProductGradients;
use super::operands::{as_rows, check_alike, like};
use super::rows::{RowFunction, RowLayouts, RowProblem, plan_rows};
use super::{GradeNorm, LayerProduct};
use crate::error::call;
use crate::gemm::{GemmKernel, Pin, Precision, Tile, launch_segments};
use crate::tensor::{DType, Layout, Real, Tensor, View};
use crate::{Error, Gpu, Plan, Result};

/// Bytes of what comes back through the weights at most, unless a row takes more: rows come back by so many as these hold.
const THROUGH_AT_MOST: usize = 1 << 27;

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
    /// [`Signature::paths`](super::super::Signature::paths) has them -> (blades, rows.., out). Any strides.
    /// # Errors
    /// [`Error::Shape`] if the weight is of other paths or inputs, the operands differ in rows or features, or have none;
    /// [`Error::Input`] if an operand is of another algebra or lacks blades, or of more than
    /// [`LAYER_DIMENSION_AT_MOST`](super::LAYER_DIMENSION_AT_MOST) vectors; [`Error::Limit`] for a tensor that is larger than the device can
    /// bind; [`Error::Gpu`] if the operands live on different devices; [`Error::OutOfMemory`] without room for the result.
    /// # Precision
    /// Sums in f32, stored once: $|o - o_{64}| \le \gamma_{k} \sum |\hat x_{a} \hat y_{d} w|$ for a sum of k terms. Where tensor
    /// cores multiply f16, the products of $\hat x$ and $\hat y$ are rounded to f16 first. A gate is
    /// within $1.2 \cdot 10^{-7}$, [`Gate::GeluTanh`](super::Gate::GeluTanh) within $2 \cdot 10^{-6}$.
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

    /// How [`connected`](Self::connected) is computed, launch by launch.
    ///
    /// # Errors
    /// As [`connected`](Self::connected).
    pub fn plan_connected<T: Real>(
        &self,
        x: &Multivectors<T>,
        y: &Multivectors<T>,
        weight: &Tensor<T>,
    ) -> Result<Vec<Plan>> {
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

    /// How it is computed, launch by launch.
    ///
    /// # Errors
    /// As [`LayerProduct::connected`]; [`Error::Unsupported`] if the device cannot run what is pinned.
    pub fn plan(&self) -> Result<Vec<Plan>> {
        call("LayerProduct::plan_connected", || {
            let product = self.explained(&self.multiplied().problem(&self.problem)?.forward()?)?;
            let norm = self.plan_of_norm(RowFunction::Normalize)?;
            Ok(self.plan_of_gates()?.into_iter().chain([product]).chain(norm).collect())
        })
    }

    /// How its gradients are computed, launch by launch: of rows that come back by parts, the first of these.
    ///
    /// # Errors
    /// As [`plan`](Self::plan); [`Error::Shape`] or [`Error::Input`] if `g` is of other rows, features or blades.
    pub fn plan_backward(&self, g: &Multivectors<T>) -> Result<Vec<Plan>> {
        call("Connected::plan_backward", || {
            let g = self.gradient_rows(g)?;
            let multiplied = self.multiplied().problem(&self.problem)?;
            let mut plans: Vec<Plan> = self.plan_of_gates()?.into_iter().collect();
            if let Some(norm) = self.plan_of_norm(RowFunction::NormalizeBackward)? {
                plans.extend([self.explained(&multiplied.forward()?)?, norm]);
            }
            let g = match self.multiplied() {
                Multiplied::AsTheyAre => *g.layout(),
                Multiplied::InHalves => Layout::contiguous(OP, g.shape())?,
            };
            plans.push(self.explained(&multiplied.of_weight(&g)?)?);
            if let Some([first, rows]) = self.parts_of_rows().next() {
                let part = g.slice(1, first..first + rows)?;
                plans.push(self.explained(&multiplied.through(&part)?)?);
                let back = ConnectedBackProblem::new(&self.problem, [first, rows])?;
                plans.push(plan_connected_back(&back, self.gpu().caps())?);
            }
            Ok(plans)
        })
    }

    /// The product.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), and [`Error::OutOfMemory`] without room for the result.
    pub fn run(&self) -> Result<Multivectors<T>> {
        call("LayerProduct::connected", || {
            let o = like(self.like, &self.summed(&self.factors()?, self.gates()?.as_ref())?)?;
            match self.problem.product.norm {
                GradeNorm::None => Ok(o),
                _ => self.problem.product.normalized(&o),
            }
        })
    }

    /// The gradients, of the gradient `g` of the product.
    ///
    /// # Errors
    /// As [`run`](Self::run); [`Error::Shape`] or [`Error::Input`] if `g` is of other rows, features or blades.
    pub fn backward(&self, g: &Multivectors<T>) -> Result<ProductGradients<T>> {
        call("LayerProduct::connected_backward", || {
            self.check_gradient(g)?;
            let (factors, gates) = (self.factors()?, self.gates()?);
            let g = match self.problem.product.norm {
                GradeNorm::None => self.gradient_rows(g)?,
                // Nothing has kept the product, so it is computed again.
                _ => {
                    let o = like(self.like, &self.summed(&factors, gates.as_ref())?)?;
                    self.gradient_rows(&self.problem.product.normalized_backward(&o, g)?)?
                }
            };
            let gpu = self.gpu();
            let weight = gpu.empty(self.weight.shape())?;
            let g = Factor::new(&g, self.multiplied())?;
            let g = g.as_view();
            let product = factors.problem.of_weight(&g.layout)?;
            self.launch_products(&factors, &product, gates.as_ref(), g, weight.as_view())?;
            let (x, y) = (gpu.empty(self.x.shape())?, gpu.empty(self.x.shape())?);
            for [first, rows] in self.parts_of_rows() {
                let part = g.slice(1, first..first + rows)?;
                let product = factors.problem.through(&part.layout)?;
                let [_, _, inputs, _] = self.problem.sizes();
                let through = gpu.empty::<f32>([self.problem.pairs().len(), rows, inputs])?;
                let operands = [part, factors.weight.as_view()];
                self.launch(&product, operands, &[], through.as_view())?;
                let back = ConnectedBackProblem::new(&self.problem, [first, rows])?;
                let planned = gpu.planned(&back)?;
                let bindings = [x.bind(), y.bind(), through.bind(), self.x.bind(), self.y.bind()];
                gpu.launch(&planned, bytemuck::bytes_of(&back.dims), &bindings)?;
            }
            Ok(ProductGradients { x: like(self.like, &x)?, y: like(self.like, &y)?, weight })
        })
    }

    /// How the norm behind the product is computed, or its gradient, unless there is none.
    fn plan_of_norm(&self, function: RowFunction) -> Result<Option<Plan>> {
        let [blades, rows, _, outputs] = self.problem.sizes();
        let o = Layout::contiguous(OP, &[blades, rows, outputs])?;
        let layouts = RowLayouts { x: &o, y: None, g: Some(&o), w: None };
        let problem = RowProblem::new(function, self.problem.product, self.like.blades(), layouts, T::DTYPE)?;
        let is_none = self.problem.product.norm == GradeNorm::None;
        if is_none { Ok(None) } else { plan_rows(&problem, self.gpu().caps()).map(Some) }
    }

    /// The product without a norm, (blade, row, out).
    fn summed(&self, factors: &Factors<'_, T>, gates: Option<&Tensor<f32>>) -> Result<Tensor<T>> {
        let [blades, rows, _, outputs] = self.problem.sizes();
        let product = factors.problem.forward()?;
        let o = self.gpu().empty([blades, rows, outputs])?;
        self.launch_products(factors, &product, gates, factors.weight.as_view(), o.as_view())?;
        Ok(o)
    }

    fn multiplied(&self) -> Multiplied {
        match (T::DTYPE, self.precision) {
            (DType::F32, Precision::Fast) => Multiplied::InHalves,
            _ => Multiplied::AsTheyAre,
        }
    }

    fn factors(&self) -> Result<Factors<'_, T>> {
        Factors::new(&self.problem, [&self.x, &self.y, self.weight], self.multiplied())
    }

    /// A product of what is formed of `x` and `y`, and of `b`.
    fn launch_products(
        &self,
        factors: &Factors<'_, T>,
        product: &Tabled,
        gates: Option<&Tensor<f32>>,
        b: View<'_>,
        c: View<'_>,
    ) -> Result<()> {
        let beside: Vec<View<'_>> =
            [factors.y.as_view()].into_iter().chain(gates.map(Tensor::as_view)).collect();
        self.launch(product, [factors.x.as_view(), b], &beside, c)
    }

    /// The plane of gates, unless there are none.
    fn gates(&self) -> Result<Option<Tensor<f32>>> {
        let problem = self.problem.gates()?;
        problem.map(|problem| gates(&problem, [self.scalars(&self.x)?, self.scalars(&self.y)?])).transpose()
    }

    /// The plane of an operand's scalars, (1, row, in).
    fn scalars(&self, operand: &Tensor<T>) -> Result<Tensor<T>> {
        let at = self.problem.scalar();
        operand.slice(0, at..at + 1)
    }

    fn launch(
        &self,
        product: &Tabled,
        operands: [View<'_>; 2],
        beside: &[View<'_>],
        c: View<'_>,
    ) -> Result<()> {
        let gpu = self.gpu();
        let words = &product.table;
        let table = gpu.tensor::<i32>(bytemuck::cast_slice(words), [words.len()])?;
        let beside: Vec<View<'_>> = [table.as_view()].into_iter().chain(beside.iter().copied()).collect();
        launch_segments(gpu, &product.problem.pinned(self.pin), operands, &beside, c)
    }

    fn explained(&self, product: &Tabled) -> Result<Plan> {
        let mut plan = plan_connected(product, self.pin, self.gpu().caps())?;
        if self.multiplied() == Multiplied::InHalves {
            plan.reasons.insert(0, "operands of f32 are rounded to f16 first, a launch each".to_owned());
        }
        Ok(plan)
    }

    fn plan_of_gates(&self) -> Result<Option<Plan>> {
        self.problem.gates()?.map(|problem| plan_gates(&problem, self.gpu().caps())).transpose()
    }

    /// First row and rows of each part that comes back through the weights on its own.
    fn parts_of_rows(&self) -> impl Iterator<Item = [usize; 2]> + use<'a, T> {
        let [_, rows, inputs, _] = self.problem.sizes();
        let allowed = usize::try_from(self.gpu().caps().limits.binding_bytes).unwrap_or(usize::MAX);
        let row = self.problem.pairs().len() * inputs * DType::F32.size();
        let part = (allowed.min(THROUGH_AT_MOST) / row).clamp(1, rows);
        (0..rows).step_by(part).map(move |first| [first, part.min(rows - first)])
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
