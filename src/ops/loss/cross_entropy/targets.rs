//! The targets of a cross-entropy.

use super::problem::TargetKind;
use crate::Result;
use crate::gpu::View;
use crate::layout::{Layout, Real};
use crate::tensor::Tensor;

/// The targets of [`cross_entropy`](super::cross_entropy()): references to tensors convert to them.
#[derive(Clone, Copy, Debug)]
pub enum Targets<'a, T: Real> {
    /// The class of each row.
    Classes(&'a Tensor<i32>),
    /// The probability of each class in each row. They need not add up to 1.
    Probabilities(&'a Tensor<T>),
}

impl<'a, T: Real> From<&'a Tensor<i32>> for Targets<'a, T> {
    fn from(classes: &'a Tensor<i32>) -> Self {
        Self::Classes(classes)
    }
}

impl<'a, T: Real> From<&'a Tensor<T>> for Targets<'a, T> {
    fn from(probabilities: &'a Tensor<T>) -> Self {
        Self::Probabilities(probabilities)
    }
}

impl<T: Real> Targets<'_, T> {
    pub(super) fn kind(self) -> TargetKind {
        match self {
            Self::Classes(_) => TargetKind::Classes,
            Self::Probabilities(_) => TargetKind::Probabilities,
        }
    }

    pub(super) fn layout(&self) -> &Layout {
        match self {
            Self::Classes(classes) => classes.layout(),
            Self::Probabilities(probabilities) => probabilities.layout(),
        }
    }

    pub(super) fn view(&self) -> View<'_> {
        match self {
            Self::Classes(classes) => classes.view(),
            Self::Probabilities(probabilities) => probabilities.view(),
        }
    }

    /// Classes without gaps, as the kernel reads them.
    pub(super) fn dense_classes(self) -> Result<Option<Tensor<i32>>> {
        match self {
            Self::Classes(classes) => classes.contiguous().map(Some),
            Self::Probabilities(_) => Ok(None),
        }
    }
}
