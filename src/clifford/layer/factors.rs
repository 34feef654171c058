//! What a connected product multiplies: operands and weight as they are, or rounded to f16.

use super::connected_problem::ConnectedProblem;
use crate::Result;
use crate::tensor::{Real, Tensor, View};
use half::f16;
use std::borrow::Cow;

/// How operands of a product are multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Multiplied {
    /// As they are.
    AsTheyAre,
    /// Rounded to f16, a launch each.
    InHalves,
}

/// A tensor as it is multiplied.
pub(super) enum Factor<T: Real> {
    AsItIs(Tensor<T>),
    InHalves(Tensor<f16>),
}

/// Both operands and the weight of matrix products, and these.
pub(super) struct Factors<'p, T: Real> {
    pub(super) problem: Cow<'p, ConnectedProblem>,
    pub(super) x: Factor<T>,
    pub(super) y: Factor<T>,
    pub(super) weight: Factor<T>,
}

impl Multiplied {
    /// The matrix products of what is multiplied.
    pub(super) fn problem(self, problem: &ConnectedProblem) -> Result<Cow<'_, ConnectedProblem>> {
        match self {
            Self::AsTheyAre => Ok(Cow::Borrowed(problem)),
            Self::InHalves => problem.in_halves().map(Cow::Owned),
        }
    }
}

impl<T: Real> Factor<T> {
    pub(super) fn new(tensor: &Tensor<T>, multiplied: Multiplied) -> Result<Self> {
        match multiplied {
            Multiplied::AsTheyAre => Ok(Self::AsItIs(tensor.clone())),
            Multiplied::InHalves => tensor.cast().map(Self::InHalves),
        }
    }

    pub(super) fn as_view(&self) -> View<'_> {
        match self {
            Self::AsItIs(tensor) => tensor.as_view(),
            Self::InHalves(tensor) => tensor.as_view(),
        }
    }
}

impl<'p, T: Real> Factors<'p, T> {
    pub(super) fn new(
        problem: &'p ConnectedProblem,
        tensors: [&Tensor<T>; 3],
        multiplied: Multiplied,
    ) -> Result<Self> {
        let problem = multiplied.problem(problem)?;
        let [x, y, weight] = tensors.map(|tensor| Factor::new(tensor, multiplied));
        Ok(Self { problem, x: x?, y: y?, weight: weight? })
    }
}
