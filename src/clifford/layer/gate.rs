//! The gate of a layer's product: each operand is multiplied by a function of its scalar part.

use crate::ops::Activation;
use std::fmt;

/// The factor of each operand in a layer's product: a function of the operand's scalar part $x_{0}$.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Gate {
    /// No gate: the factor is 1.
    None,
    /// $\Phi(x_{0})$, the cumulative normal distribution, within $1.2 \cdot 10^{-7}$. The scalar part becomes its GELU.
    #[default]
    Gelu,
    /// $\frac{1}{2}(1 + \tanh(\sqrt{2 / \pi}\\,(x_{0} + 0.044715\\,x_{0}^3)))$, which some models use instead of
    /// [`Gelu`](Self::Gelu). The scalar part becomes its GELU in the tanh approximation.
    GeluTanh,
}

impl Gate {
    /// Every gate.
    pub const ALL: [Self; 3] = [Self::None, Self::Gelu, Self::GeluTanh];

    /// The activation that the gate applies to the scalar part.
    #[must_use]
    pub const fn activation(self) -> Activation {
        match self {
            Self::None => Activation::None,
            Self::Gelu => Activation::Gelu,
            Self::GeluTanh => Activation::GeluTanh,
        }
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.activation().fmt(f)
    }
}
