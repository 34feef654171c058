//! Runs norms: checks the operands of a call, and brings them into the form of a problem.

use super::passes::{AnyNorm, AnyPass, NormMode};
use super::results::{NormResults, missing};
use super::units::{NormShapes, NormUnits, OP};
use crate::gpu::View;
use crate::layout::{Element, Real};
use crate::ops::norm::layouts::NormLayouts;
use crate::ops::training::Gradients;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// A norm in the caller's terms.
#[derive(Clone, Copy, Debug)]
pub(super) struct NormCall<'a, T: Real> {
    pub(super) units: NormUnits,
    pub(super) gamma: Option<&'a Tensor<T>>,
    pub(super) beta: Option<&'a Tensor<T>>,
    pub(super) eps: f32,
    pub(super) momentum: f32,
}

/// Statistics that the caller gives, by their names in errors.
pub(super) type GivenStatistics<'x> = [(&'static str, &'x Tensor<f32>)];

/// The operands of a pass in the order of its plan, and its problem.
struct NormOperands<T: Real> {
    real: Vec<Tensor<T>>,
    statistics: Vec<Tensor<f32>>,
    problem: AnyNorm,
}

impl<T: Real> NormCall<'_, T> {
    pub(super) fn of(units: NormUnits, eps: f32) -> Self {
        Self { units, gamma: None, beta: None, eps, momentum: 0.0 }
    }

    /// The result.
    pub(super) fn run(&self, x: &Tensor<T>, given: &GivenStatistics<'_>) -> Result<Tensor<T>> {
        Ok(self.forward(x, None, given, NormMode::Inference)?.y)
    }

    /// The forward pass. `given` are running statistics.
    pub(super) fn forward(
        &self,
        x: &Tensor<T>,
        residual: Option<&Tensor<T>>,
        given: &GivenStatistics<'_>,
        mode: NormMode,
    ) -> Result<NormResults<T>> {
        let shapes = self.checked(x, residual.map(|of| ("the residual", of)), given)?;
        let (gpu, pass) = (x.gpu(), AnyPass::forward(self.units, mode));
        if x.is_empty() {
            let total = residual.map(|_| gpu.empty(x.shape())).transpose()?;
            let statistics = (0..pass.statistics()).map(|_| gpu.empty(&shapes.statistics));
            return Ok(NormResults {
                y: gpu.empty(x.shape())?,
                total,
                statistics: statistics.collect::<Result<_>>()?,
            });
        }
        let prepared = self.prepared(pass, x, residual, given, &shapes)?;
        let scalars = pass.scalars(self.eps, self.momentum);
        let sliced = |error| self.units.sliced(error, x.shape());
        if residual.is_none() && pass.statistics() == 0 {
            let y = Tensor::computed(gpu, &prepared.problem, &prepared.views(), &scalars, x.shape());
            return Ok(NormResults { y: y.map_err(sliced)?, total: None, statistics: Vec::new() });
        }
        let results = gpu.compute_all(&prepared.problem, &prepared.views(), &scalars).map_err(sliced)?;
        let mut results = results.into_iter();
        let mut real = || Tensor::from_output(results.next().ok_or_else(missing)?, x.shape());
        let (y, total) = (real()?, residual.map(|_| real()).transpose()?);
        let statistics = results.map(|made| Tensor::from_output(made, &shapes.statistics));
        Ok(NormResults { y, total, statistics: statistics.collect::<Result<_>>()? })
    }

    /// The backward pass, from statistics and the gradient of the result: the gradient of the operand, and those of `gamma`
    /// and `beta`.
    pub(super) fn backward(
        &self,
        x: &Tensor<T>,
        given: &GivenStatistics<'_>,
        grad: &Tensor<T>,
        mode: NormMode,
    ) -> Result<(Tensor<T>, Gradients)> {
        let shapes = self.checked(x, Some(("the gradient", grad)), given)?;
        let named = [self.gamma.map(|_| "gamma"), self.beta.map(|_| "beta")];
        let mut gradients = Gradients::new();
        if x.is_empty() {
            for name in named.into_iter().flatten() {
                gradients.add(name, x.gpu().zeros(shapes.weights)?)?;
            }
            return Ok((x.gpu().empty(x.shape())?, gradients));
        }
        let pass = AnyPass::backward(self.units, mode, named.map(|of| of.is_some()));
        let prepared = self.prepared(pass, x, Some(grad), given, &shapes)?;
        let scalars = pass.scalars(self.eps, self.momentum);
        let results = x.gpu().compute_all(&prepared.problem, &prepared.views(), &scalars);
        let mut results = results.map_err(|error| self.units.sliced(error, x.shape()))?.into_iter();
        let of_x = Tensor::from_output(results.next().ok_or_else(missing)?, x.shape())?;
        if let Some(made) = results.next() {
            let length: usize = shapes.weights.iter().product();
            let sums = Tensor::<f32>::from_output(made, [pass.gradients(), length])?;
            for (at, name) in named.into_iter().enumerate() {
                if let Some(name) = name {
                    gradients.add(name, sums.slice(0, at..=at)?.reshape(shapes.weights)?)?;
                }
            }
        }
        Ok((of_x, gradients))
    }

    /// Checks everything of a call, and gives the shapes that `x` asks of the other operands.
    fn checked<'x>(
        &self,
        x: &'x Tensor<T>,
        b: Option<(&'static str, &Tensor<T>)>,
        given: &GivenStatistics<'_>,
    ) -> Result<NormShapes<'x>> {
        for operand in [b.map(|(_, b)| b), self.gamma, self.beta].into_iter().flatten() {
            x.same_gpu(OP, operand)?;
        }
        let (shapes, [of_weights, of_statistics]) = (self.units.shapes(x.shape())?, self.units.rules());
        for (name, number) in [("eps", self.eps), ("momentum", self.momentum)] {
            if !(number >= 0.0 && number.is_finite()) {
                let why = format!("it must be a finite number of at least 0, not {number}");
                return Err(Error::input(format!("{OP}: {name}"), why));
            }
        }
        if let Some((name, b)) = b.filter(|(_, b)| b.shape() != x.shape()) {
            return Err(mismatch(name, "the shape of the operand", b.shape(), x.shape()));
        }
        for (name, of) in given {
            x.same_gpu(OP, of)?;
            if of.shape() != shapes.statistics {
                return Err(mismatch(name, of_statistics, of.shape(), &shapes.statistics));
            }
        }
        match [self.gamma, self.beta].into_iter().flatten().find(|of| of.shape() != shapes.weights) {
            Some(of) => Err(mismatch("gamma and beta", of_weights, of.shape(), shapes.weights)),
            None => Ok(shapes),
        }
    }

    /// The operands of a pass in the form of its problem. `x` has elements, and everything was checked.
    fn prepared(
        &self,
        pass: AnyPass,
        x: &Tensor<T>,
        b: Option<&Tensor<T>>,
        given: &GivenStatistics<'_>,
        shapes: &NormShapes<'_>,
    ) -> Result<NormOperands<T>> {
        let weights = |of: &Tensor<T>| of.contiguous()?.reshape([of.len()]);
        let a = self.units.planes(x)?;
        let b = b.map(|b| self.units.planes(b)).transpose()?;
        let gamma = self.gamma.map(weights).transpose()?;
        let beta = self.beta.filter(|_| pass.is_forward()).map(weights).transpose()?;
        let layout = |of: &'_ Option<Tensor<T>>| of.as_ref().map(|of| *of.layout());
        let [of_b, of_gamma, of_beta] = [&b, &gamma, &beta].map(layout);
        let layouts =
            NormLayouts { a: a.layout(), b: of_b.as_ref(), gamma: of_gamma.as_ref(), beta: of_beta.as_ref() };
        let problem = pass.problem(layouts, shapes.groups, T::DTYPE)?;
        let statistic = |(_, of): &(&str, &Tensor<f32>)| {
            if starts_dense(of) { of.reshape([of.len()]) } else { of.copied()?.reshape([of.len()]) }
        };
        let statistics = given.iter().map(statistic).collect::<Result<_>>()?;
        Ok(NormOperands {
            real: [Some(a), b, gamma, beta].into_iter().flatten().collect(),
            statistics,
            problem,
        })
    }
}

impl<T: Real> NormOperands<T> {
    fn views(&self) -> Vec<View<'_>> {
        self.real.iter().map(Tensor::view).chain(self.statistics.iter().map(Tensor::view)).collect()
    }
}

/// Whether a tensor is contiguous from where a binding may begin.
fn starts_dense<U: Element>(of: &Tensor<U>) -> bool {
    of.layout().is_contiguous() && of.layout().offset_in_window(U::DTYPE) == 0
}

/// An operand has another shape than it must have.
fn mismatch(name: &str, rule: &str, found: &[usize], wanted: &[usize]) -> Error {
    Error::shapes(OP, format!("{name} must have {rule}"), found, wanted)
}
