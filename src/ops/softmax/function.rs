//! The functions: softmax, its logarithm, and their gradients.

use crate::layout::Layout;
use crate::{Error, Result};

/// A softmax or a gradient of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SoftmaxFunction {
    /// The softmax.
    Softmax,
    /// The logarithm of the softmax.
    LogSoftmax,
    /// The gradient of the softmax.
    SoftmaxBackward,
    /// The gradient of the logarithm of the softmax.
    LogSoftmaxBackward,
}

impl SoftmaxFunction {
    /// Every function.
    pub const ALL: [Self; 4] =
        [Self::Softmax, Self::LogSoftmax, Self::SoftmaxBackward, Self::LogSoftmaxBackward];

    /// The name in errors and plans.
    pub(super) fn op(self) -> &'static str {
        match self {
            Self::Softmax => "softmax",
            Self::LogSoftmax => "log_softmax",
            Self::SoftmaxBackward => "softmax_backward",
            Self::LogSoftmaxBackward => "log_softmax_backward",
        }
    }

    /// Whether it is a gradient.
    #[must_use]
    pub fn is_backward(self) -> bool {
        matches!(self, Self::SoftmaxBackward | Self::LogSoftmaxBackward)
    }

    /// Whether it is the logarithm or its gradient.
    pub(super) fn is_logarithm(self) -> bool {
        matches!(self, Self::LogSoftmax | Self::LogSoftmaxBackward)
    }

    /// Checks the shapes.
    pub(super) fn check(self, a: &Layout, m: Option<&Layout>, axis: usize) -> Result<()> {
        let op = self.op();
        if axis >= a.rank() {
            let rule = "the axis must be less than the number of axes";
            return Err(Error::shapes(op, rule, a.shape(), &[axis]));
        }
        let Some(m) = m else {
            let rule = "there must be a gradient of the result";
            return if self.is_backward() { Err(Error::shape(op, rule, a.shape())) } else { Ok(()) };
        };
        if self.is_backward() && a.shape() != m.shape() {
            return Err(Error::shapes(op, "the gradient must have the shape of y", a.shape(), m.shape()));
        }
        let missing = a.rank().checked_sub(m.rank());
        let broadcasts = missing.is_some_and(|missing| {
            let axes = m.shape().iter().zip(&a.shape()[missing..]);
            axes.into_iter().all(|(&of_mask, &extent)| of_mask == extent || of_mask == 1)
        });
        if broadcasts {
            return Ok(());
        }
        let rule = "the mask must have the shape of x, or extents of 1, counted from the last axis";
        Err(Error::shapes(op, rule, a.shape(), m.shape()))
    }

    /// The approximate number of operations per element: an exponential takes 20.
    pub(super) fn flops(self) -> f64 {
        match self {
            Self::Softmax | Self::LogSoftmax => 40.0,
            Self::SoftmaxBackward => 4.0,
            Self::LogSoftmaxBackward => 23.0,
        }
    }
}
