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

    /// As the kernel takes them: classes are contiguous.
    pub(super) fn prepared(self) -> Result<PreparedTargets<T>> {
        Ok(match self {
            Self::Classes(classes) => PreparedTargets::Classes(classes.contiguous()?),
            Self::Probabilities(probabilities) => PreparedTargets::Probabilities(probabilities.clone()),
        })
    }
}

/// Targets as the kernel takes them.
pub(super) enum PreparedTargets<T: Real> {
    Classes(Tensor<i32>),
    Probabilities(Tensor<T>),
}

impl<T: Real> PreparedTargets<T> {
    pub(super) fn borrowed(&self) -> Targets<'_, T> {
        match self {
            Self::Classes(classes) => Targets::Classes(classes),
            Self::Probabilities(probabilities) => Targets::Probabilities(probabilities),
        }
    }

    pub(super) fn view(&self) -> View<'_> {
        match self {
            Self::Classes(classes) => classes.view(),
            Self::Probabilities(probabilities) => probabilities.view(),
        }
    }
}
