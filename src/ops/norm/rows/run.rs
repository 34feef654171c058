//! Runs norms of rows: the last axes of the operands as one.

use super::problem::{NormKind, NormLayouts, NormPass, NormProblem};
use crate::gpu::{Gpu, View};
use crate::kernel::slice_along;
use crate::layout::Real;
use crate::ops::norm::results::{NormGradients, statistic};
use crate::plan::Scalar;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// A norm of the last axes in the caller's terms.
pub(super) struct RowNorm<'a, T: Real> {
    pub(super) op: &'static str,
    pub(super) kind: NormKind,
    pub(super) axes: usize,
    pub(super) gamma: Option<&'a Tensor<T>>,
    pub(super) beta: Option<&'a Tensor<T>>,
    pub(super) eps: f32,
}

/// The results of a forward pass.
pub(super) struct RowResults<T: Real> {
    pub(super) y: Tensor<T>,
    /// The operand plus the residual, if there is one.
    pub(super) total: Option<Tensor<T>>,
    /// The means of the rows, if the norm subtracts them, and the reciprocal deviations; empty if the call does not
    /// return them.
    pub(super) statistics: Vec<Tensor<f32>>,
}

/// The shape of a norm: the axes of the rows, and the normalised axes.
struct Split<'a> {
    rows: &'a [usize],
    row: &'a [usize],
}

impl<T: Real> RowNorm<'_, T> {
    /// The forward pass.
    pub(super) fn forward(
        &self,
        x: &Tensor<T>,
        residual: Option<&Tensor<T>>,
        pass: NormPass,
    ) -> Result<RowResults<T>> {
        let (gpu, split) = (self.gpu(x, residual)?, self.split(x)?);
        if !(self.eps >= 0.0 && self.eps.is_finite()) {
            let why = format!("it must be a finite number of at least 0, not {}", self.eps);
            return Err(Error::input(format!("{}: eps", self.op), why));
        }
        if let Some(residual) = residual.filter(|residual| residual.shape() != x.shape()) {
            let rule = "the residual must have the shape of the operand";
            return Err(Error::shapes(self.op, rule, x.shape(), residual.shape()));
        }
        let statistics = match (self.kind, pass) {
            (_, NormPass::Forward) => 0,
            (NormKind::Rms, _) => 1,
            (NormKind::Layer, _) => 2,
        };
        let (gamma, beta) = (self.weights(&split, self.gamma)?, self.weights(&split, self.beta)?);
        if x.is_empty() {
            let of_rows = || gpu.empty::<f32>(split.rows);
            return Ok(RowResults {
                y: gpu.empty(x.shape())?,
                total: residual.map(|_| gpu.empty(x.shape())).transpose()?,
                statistics: (0..statistics).map(|_| of_rows()).collect::<Result<_>>()?,
            });
        }
        let (a, b) = (self.rows(x)?, residual.map(|residual| self.rows(residual)).transpose()?);
        let (gamma, beta) = (gamma.as_ref(), beta.as_ref());
        let layouts = NormLayouts {
            a: a.layout(),
            b: b.as_ref().map(Tensor::layout),
            gamma: gamma.map(Tensor::layout),
            beta: beta.map(Tensor::layout),
        };
        let problem = NormProblem::new(self.kind, pass, layouts, T::DTYPE)?;
        let inputs: Vec<View<'_>> =
            [Some(&a), b.as_ref(), gamma, beta].into_iter().flatten().map(Tensor::view).collect();
        let results = gpu.compute_all(&problem, &inputs, &[Scalar::F32(self.eps)]);
        let mut results = results.map_err(|error| slice_along(error, split.rows.len()))?.into_iter();
        let mut real = || results.next().map(|made| Tensor::from_output(made, x.shape())).transpose();
        let missing = || Error::device(format!("{}: a result is missing", self.op));
        let y = real()?.ok_or_else(missing)?;
        let total = if residual.is_some() { real()? } else { None };
        let statistics = results.map(|made| Tensor::from_output(made, split.rows)).collect::<Result<_>>()?;
        Ok(RowResults { y, total, statistics })
    }

    /// The backward pass, from the statistics of the forward pass and the gradient of its result.
    pub(super) fn backward(
        &self,
        x: &Tensor<T>,
        statistics: &[(&'static str, &Tensor<f32>)],
        grad: &Tensor<T>,
    ) -> Result<NormGradients<T>> {
        let (gpu, split) = (self.gpu(x, Some(grad))?, self.split(x)?);
        if grad.shape() != x.shape() {
            let rule = "the gradient must have the shape of the operand";
            return Err(Error::shapes(self.op, rule, grad.shape(), x.shape()));
        }
        let statistics: Vec<Tensor<f32>> = statistics
            .iter()
            .map(|(name, of)| {
                let rule = "the shape of the rows, as the forward pass returned it";
                statistic(self.op, (name, rule), x, of, split.rows)
            })
            .collect::<Result<_>>()?;
        let gamma = self.weights(&split, self.gamma)?;
        self.weights(&split, self.beta)?;
        let (wants_gamma, wants_beta) = (self.gamma.is_some(), self.beta.is_some());
        if x.is_empty() {
            let zeros = |wanted: bool| wanted.then(|| gpu.zeros(split.row)).transpose();
            return Ok(NormGradients {
                x: gpu.empty(x.shape())?,
                gamma: zeros(wants_gamma)?,
                beta: zeros(wants_beta)?,
            });
        }
        let pass = match (wants_gamma, wants_beta) {
            (false, false) => NormPass::Backward,
            (true, false) => NormPass::BackwardWithGamma,
            (_, true) => NormPass::BackwardWithBoth,
        };
        let (a, b) = (self.rows(x)?, self.rows(grad)?);
        let layouts = NormLayouts {
            a: a.layout(),
            b: Some(b.layout()),
            gamma: gamma.as_ref().map(Tensor::layout),
            beta: None,
        };
        let problem = NormProblem::new(self.kind, pass, layouts, T::DTYPE)?;
        let inputs = [Some(&a), Some(&b), gamma.as_ref()].into_iter().flatten().map(Tensor::view);
        let inputs: Vec<View<'_>> = inputs.chain(statistics.iter().map(Tensor::view)).collect();
        let results = gpu.compute_all(&problem, &inputs, &[]);
        let mut results = results.map_err(|error| slice_along(error, split.rows.len()))?.into_iter();
        let missing = || Error::device(format!("{}: a result is missing", self.op));
        let of_x = Tensor::from_output(results.next().ok_or_else(missing)?, x.shape())?;
        let length: usize = split.row.iter().product();
        let sums = results.next().map(|made| Tensor::<f32>::from_output(made, [pass.partials(), length]));
        let sums = sums.transpose()?;
        let part = |at: usize, wanted: bool| match sums.as_ref().filter(|_| wanted) {
            Some(sums) => Ok(Some(sums.slice(0, at..=at)?.reshape(split.row)?)),
            None => Ok::<_, Error>(None),
        };
        Ok(NormGradients { x: of_x, gamma: part(0, wants_gamma)?, beta: part(1, wants_beta)? })
    }

    /// The device, after checking that all operands are there.
    fn gpu<'x>(&self, x: &'x Tensor<T>, other: Option<&Tensor<T>>) -> Result<&'x Gpu> {
        for operand in [other, self.gamma, self.beta].into_iter().flatten() {
            x.same_gpu(self.op, operand)?;
        }
        Ok(x.gpu())
    }

    /// Splits the shape of an operand.
    fn split<'x>(&self, x: &'x Tensor<T>) -> Result<Split<'x>> {
        let (shape, axes) = (x.shape(), self.axes);
        if axes == 0 || axes > shape.len() {
            let rule = "the number of normalised axes must be from 1 to the operand's number of axes";
            return Err(Error::shapes(self.op, rule, shape, &[axes]));
        }
        let (rows, row) = shape.split_at(shape.len() - axes);
        if row.contains(&0) {
            return Err(Error::shape(self.op, "the normalised axes must not be empty", shape));
        }
        Ok(Split { rows, row })
    }

    /// Gamma or beta as one contiguous axis.
    fn weights(&self, split: &Split<'_>, of: Option<&Tensor<T>>) -> Result<Option<Tensor<T>>> {
        let Some(of) = of else { return Ok(None) };
        if of.shape() != split.row {
            let rule = "gamma and beta must have the shape of the normalised axes";
            return Err(Error::shapes(self.op, rule, of.shape(), split.row));
        }
        of.contiguous()?.reshape([of.len()]).map(Some)
    }

    /// The operand with its normalised axes as one.
    fn rows(&self, x: &Tensor<T>) -> Result<Tensor<T>> {
        let axes = x.shape().len();
        x.joined(axes - self.axes..axes)
    }
}
