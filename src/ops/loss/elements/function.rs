//! The losses of elements.

/// A loss of an element and its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LossFunction {
    /// $(x - t)^2$.
    Mse,
    /// $|x - t|$.
    L1,
    /// $d^2 / 2$ with $d = x - t$ if $|d|$ is at most $\delta$, otherwise $\delta (|d| - \delta / 2)$.
    Huber,
    /// $(1 - t) \ln(1 + e^x) + w t \ln(1 + e^{-x})$.
    BceWithLogits,
}

impl LossFunction {
    /// Every function.
    pub const ALL: [Self; 4] = [Self::Mse, Self::L1, Self::Huber, Self::BceWithLogits];

    /// The name in errors and plans, and of the variant of the shader's slot.
    pub(super) fn op(self) -> &'static str {
        match self {
            Self::Mse => "mse",
            Self::L1 => "l1",
            Self::Huber => "huber",
            Self::BceWithLogits => "bce_with_logits",
        }
    }

    /// The name of the function that also computes the gradient.
    pub(super) fn op_with_gradient(self) -> &'static str {
        match self {
            Self::Mse => "mse_and_gradient",
            Self::L1 => "l1_and_gradient",
            Self::Huber => "huber_and_gradient",
            Self::BceWithLogits => "bce_with_logits_and_gradient",
        }
    }

    /// The approximate number of operations for a loss, and for its derivative.
    pub(super) fn flops(self) -> [f64; 2] {
        match self {
            Self::Mse => [2.0, 3.0],
            Self::L1 => [2.0, 3.0],
            Self::Huber => [6.0, 4.0],
            Self::BceWithLogits => [45.0, 60.0],
        }
    }
}
