//! Runs norms of channels: the last axis has the channels, the others are rows.

use super::problem::{ChannelLayouts, ChannelPass, ChannelProblem};
use crate::gpu::{Allocation, Gpu, View};
use crate::kernel::slice_along;
use crate::layout::Real;
use crate::ops::norm::results::{NormGradients, statistic};
use crate::plan::Scalar;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// A norm of channels in the caller's terms.
pub(super) struct ChannelNorm<'a, T: Real> {
    pub(super) op: &'static str,
    pub(super) units: UnitAxes,
    pub(super) gamma: Option<&'a Tensor<T>>,
    pub(super) beta: Option<&'a Tensor<T>>,
    pub(super) eps: f32,
    pub(super) momentum: f32,
}

/// Which elements are normalised together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnitAxes {
    /// The elements of a group of channels, for each index of the first axis. There are this many groups.
    Groups(usize),
    /// The elements of each channel, for each index of the first axis.
    Instances,
    /// All elements of each channel.
    Batch,
}

impl<T: Real> ChannelNorm<'_, T> {
    /// The forward pass: the result, then the other results of the pass, of these shapes.
    pub(super) fn forward(
        &self,
        x: &Tensor<T>,
        given: &[(&'static str, &Tensor<f32>)],
        pass: ChannelPass,
        others: &[&[usize]],
    ) -> Result<(Tensor<T>, Vec<Tensor<f32>>)> {
        let (gpu, groups) = (self.gpu(x, None)?, self.groups(x)?);
        self.check_numbers()?;
        let given = self.given(x, given)?;
        let [gamma, beta] = [self.weights(x, self.gamma)?, self.weights(x, self.beta)?];
        if x.is_empty() {
            let others = others.iter().map(|shape| gpu.empty::<f32>(*shape)).collect::<Result<_>>()?;
            return Ok((gpu.empty(x.shape())?, others));
        }
        let a = self.planes(x)?;
        let layouts = ChannelLayouts {
            a: a.layout(),
            b: None,
            gamma: gamma.as_ref().map(Tensor::layout),
            beta: beta.as_ref().map(Tensor::layout),
        };
        let problem = ChannelProblem::new(self.op, pass, layouts, groups, T::DTYPE)?;
        let inputs = [Some(&a), gamma.as_ref(), beta.as_ref()].into_iter().flatten().map(Tensor::view);
        let inputs: Vec<View<'_>> = inputs.chain(given.iter().map(Tensor::view)).collect();
        let results = gpu.compute_all(&problem, &inputs, &self.numbers());
        let mut results = results.map_err(|error| self.sliced(error, x))?.into_iter();
        let y = self.result(results.next(), x.shape())?;
        let others = results.zip(others).map(|(made, shape)| Tensor::from_output(made, *shape));
        Ok((y, others.collect::<Result<_>>()?))
    }

    /// The backward pass, from the mean and the reciprocal deviation or the variance.
    pub(super) fn backward(
        &self,
        x: &Tensor<T>,
        given: &[(&'static str, &Tensor<f32>)],
        grad: &Tensor<T>,
        [plain, with_gradients]: [ChannelPass; 2],
    ) -> Result<NormGradients<T>> {
        let (gpu, groups) = (self.gpu(x, Some(grad))?, self.groups(x)?);
        self.check_numbers()?;
        if grad.shape() != x.shape() {
            let rule = "the gradient must have the shape of the operand";
            return Err(Error::shapes(self.op, rule, grad.shape(), x.shape()));
        }
        let given = self.given(x, given)?;
        let gamma = self.weights(x, self.gamma)?;
        self.weights(x, self.beta)?;
        let (wants_gamma, wants_beta) = (self.gamma.is_some(), self.beta.is_some());
        let channels = x.shape()[x.shape().len() - 1];
        if x.is_empty() {
            let zeros = |wanted: bool| wanted.then(|| gpu.zeros([channels])).transpose();
            let (gamma, beta) = (zeros(wants_gamma)?, zeros(wants_beta)?);
            return Ok(NormGradients { x: gpu.empty(x.shape())?, gamma, beta });
        }
        let pass = if wants_gamma || wants_beta { with_gradients } else { plain };
        let (a, b) = (self.planes(x)?, self.planes(grad)?);
        let layouts = ChannelLayouts {
            a: a.layout(),
            b: Some(b.layout()),
            gamma: gamma.as_ref().map(Tensor::layout),
            beta: None,
        };
        let problem = ChannelProblem::new(self.op, pass, layouts, groups, T::DTYPE)?;
        let inputs = [Some(&a), Some(&b), gamma.as_ref()].into_iter().flatten().map(Tensor::view);
        let inputs: Vec<View<'_>> = inputs.chain(given.iter().map(Tensor::view)).collect();
        let results = gpu.compute_all(&problem, &inputs, &self.numbers());
        let mut results = results.map_err(|error| self.sliced(error, x))?.into_iter();
        let of_x = self.result(results.next(), x.shape())?;
        let sums = results.next().map(|made| Tensor::<f32>::from_output(made, [2, channels])).transpose()?;
        let part = |at: usize, wanted: bool| match sums.as_ref().filter(|_| wanted) {
            Some(sums) => Ok(Some(sums.slice(0, at..=at)?.reshape([channels])?)),
            None => Ok::<_, Error>(None),
        };
        Ok(NormGradients { x: of_x, gamma: part(0, wants_gamma)?, beta: part(1, wants_beta)? })
    }

    /// The shape of a statistic of the units.
    pub(super) fn statistics_shape(&self, x: &Tensor<T>) -> Result<Vec<usize>> {
        let groups = self.groups(x)?;
        Ok(if self.units == UnitAxes::Batch { vec![groups] } else { vec![x.shape()[0], groups] })
    }

    /// The error with the axis to slice along: the first one (a single index is computed in windows), or the channels.
    fn sliced(&self, error: Error, x: &Tensor<T>) -> Error {
        let has_outer = self.units != UnitAxes::Batch && x.shape()[0] > 1;
        slice_along(error, if has_outer { 0 } else { x.shape().len() - 1 })
    }

    fn numbers(&self) -> [Scalar; 2] {
        [Scalar::F32(self.eps), Scalar::F32(self.momentum)]
    }

    fn check_numbers(&self) -> Result<()> {
        for (name, number) in [("eps", self.eps), ("momentum", self.momentum)] {
            if !(number >= 0.0 && number.is_finite()) {
                let why = format!("it must be a finite number of at least 0, not {number}");
                return Err(Error::input(format!("{}: {name}", self.op), why));
            }
        }
        Ok(())
    }

    fn result(&self, made: Option<Allocation>, shape: &[usize]) -> Result<Tensor<T>> {
        let missing = || Error::device(format!("{}: a result is missing", self.op));
        Tensor::from_output(made.ok_or_else(missing)?, shape)
    }

    /// The device, after checking that all operands are there.
    fn gpu<'x>(&self, x: &'x Tensor<T>, other: Option<&Tensor<T>>) -> Result<&'x Gpu> {
        for operand in [other, self.gamma, self.beta].into_iter().flatten() {
            x.same_gpu(self.op, operand)?;
        }
        Ok(x.gpu())
    }

    /// The number of groups of channels, after checking the shape of an operand.
    fn groups(&self, x: &Tensor<T>) -> Result<usize> {
        let shape = x.shape();
        let least = if self.units == UnitAxes::Batch { 1 } else { 2 };
        let Some(&channels) = shape.last().filter(|_| shape.len() >= least) else {
            let rule = "the operand must have channels as its last axis, and before them rows";
            return Err(Error::shape(self.op, rule, shape));
        };
        let groups = match self.units {
            UnitAxes::Groups(groups) => groups,
            UnitAxes::Instances | UnitAxes::Batch => channels.max(1),
        };
        if groups == 0 || !channels.is_multiple_of(groups) {
            let rule = "the number of groups must divide the channels, the last axis";
            return Err(Error::shapes(self.op, rule, shape, &[groups]));
        }
        // A batch without rows has an empty result.
        let is_empty = self.units != UnitAxes::Batch && shape[1..].contains(&0);
        if channels == 0 || is_empty {
            return Err(Error::shape(self.op, "the normalised axes must not be empty", shape));
        }
        Ok(groups)
    }

    /// Statistics that the caller gives.
    fn given(&self, x: &Tensor<T>, given: &[(&'static str, &Tensor<f32>)]) -> Result<Vec<Tensor<f32>>> {
        let shape = self.statistics_shape(x)?;
        let rule = match self.units {
            UnitAxes::Batch => "a number for each channel, the last axis of the operand",
            UnitAxes::Groups(_) | UnitAxes::Instances => {
                "numbers for the groups of each position of the first axis, as the forward pass returned them"
            }
        };
        given.iter().map(|(name, of)| statistic(self.op, (name, rule), x, of, &shape)).collect()
    }

    /// Gamma or beta, contiguous.
    fn weights(&self, x: &Tensor<T>, of: Option<&Tensor<T>>) -> Result<Option<Tensor<T>>> {
        let Some(of) = of else { return Ok(None) };
        let channels = &x.shape()[x.shape().len() - 1..];
        if of.shape() != channels {
            let rule = "gamma and beta must have as many elements as there are channels";
            return Err(Error::shapes(self.op, rule, of.shape(), channels));
        }
        of.contiguous().map(Some)
    }

    /// The operand as (outer, inner, channels).
    fn planes(&self, x: &Tensor<T>) -> Result<Tensor<T>> {
        let last = x.shape().len() - 1;
        if self.units == UnitAxes::Batch { x.joined(0..last)?.unsqueeze(0) } else { x.joined(1..last) }
    }
}
