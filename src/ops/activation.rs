//! Activation functions.

use std::fmt;

/// The activation function of a network's layer. The default is none.
///
/// NaN stays NaN. At $-\infty$ the value is the limit.
///
/// # Precision
/// [`reference::activation_tolerance`](crate::reference::activation_tolerance).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Activation {
    /// $x$.
    #[default]
    None,
    /// $\max(x, 0)$.
    Relu,
    /// $x\,\Phi(x)$ with the normal distribution $\Phi(x) = \frac{1}{2}(1 + \operatorname{erf}(x / \sqrt{2}))$.
    Gelu,
    /// $\frac{1}{2} x\,(1 + \tanh(\sqrt{2 / \pi}\,(x + 0.044715\,x^3)))$, which some models use in place of
    /// [`Gelu`](Self::Gelu).
    GeluTanh,
    /// $x / (1 + e^{-x})$.
    Silu,
    /// $1 / (1 + e^{-x})$.
    Sigmoid,
    /// $\tanh x$.
    Tanh,
}

impl Activation {
    /// Every activation.
    pub const ALL: [Self; 7] =
        [Self::None, Self::Relu, Self::Gelu, Self::GeluTanh, Self::Silu, Self::Sigmoid, Self::Tanh];

    /// The variant of the shader slots `activation`, its value, and `slope`, its derivative.
    pub(crate) fn variant(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Relu => "relu",
            Self::Gelu => "gelu",
            Self::GeluTanh => "gelu_tanh",
            Self::Silu => "silu",
            Self::Sigmoid => "sigmoid",
            Self::Tanh => "tanh",
        }
    }

    /// The approximate number of operations per element.
    pub(crate) fn flops(self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Relu => 1.0,
            Self::Gelu | Self::GeluTanh | Self::Silu | Self::Sigmoid | Self::Tanh => 30.0,
        }
    }
}

impl fmt::Display for Activation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Relu => "relu",
            Self::Gelu => "gelu",
            Self::GeluTanh => "gelu-tanh",
            Self::Silu => "silu",
            Self::Sigmoid => "sigmoid",
            Self::Tanh => "tanh",
        })
    }
}
