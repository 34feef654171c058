//! The functions between the layers of a network, as values.

use std::fmt;

/// A function of one variable that stands between the layers of a network; by default none.
///
/// NaN stays NaN. At $-\infty$ a function has its limit there.
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
    /// $\frac{1}{2} x\,(1 + \tanh(\sqrt{2 / \pi}\,(x + 0.044715\,x^3)))$, which some models have in place of
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
    /// Every function.
    pub const ALL: [Self; 7] =
        [Self::None, Self::Relu, Self::Gelu, Self::GeluTanh, Self::Silu, Self::Sigmoid, Self::Tanh];

    /// The fragment for the slot `activation` of a shader: `fn activate(v: vec4<f32>) -> vec4<f32>`.
    pub(crate) fn fragment(self) -> &'static str {
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

    /// Operations for each element, about.
    pub(crate) fn flops(self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Relu => 1.0,
            Self::Gelu | Self::GeluTanh | Self::Silu | Self::Sigmoid | Self::Tanh => 30.0,
        }
    }

    /// The fragment for the slot `slope`: `fn slope(v: vec4<f32>) -> vec4<f32>`.
    pub(super) fn slope_fragment(self) -> &'static str {
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
