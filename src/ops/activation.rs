//! Activation functions.

use std::fmt;

/// The activation function of a layer. The default is none.
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
    /// $x\\,\Phi(x)$ with the normal distribution $\Phi(x) = \frac{1}{2}(1 + \operatorname{erf}(x / \sqrt{2}))$.
    Gelu,
    /// $\frac{1}{2} x\\,(1 + \tanh(\sqrt{2 / \pi}\\,(x + 0.044715\\,x^3)))$, which some models use in place of
    /// [`Gelu`](Self::Gelu).
    GeluTanh,
    /// $x / (1 + e^{-x})$.
    Silu,
    /// $1 / (1 + e^{-x})$.
    Sigmoid,
    /// $\tanh x$.
    Tanh,
    /// $\ln(1 + e^x)$. For x above 20, where PyTorch returns x, the f32 value is x, too.
    Softplus,
    /// $x$ if it is positive, else $e^x - 1$.
    Elu,
    /// $x$ if it is positive, else $0.01\\,x$.
    LeakyRelu,
    /// $x \tanh(\ln(1 + e^x))$.
    Mish,
    /// $x \min(\max(x + 3, 0), 6) / 6$.
    Hardswish,
    /// $x / (1 + e^{-1.702 x})$, which some models use in place of [`Gelu`](Self::Gelu).
    QuickGelu,
}

impl Activation {
    /// Every activation.
    pub const ALL: [Self; 13] = [
        Self::None,
        Self::Relu,
        Self::Gelu,
        Self::GeluTanh,
        Self::Silu,
        Self::Sigmoid,
        Self::Tanh,
        Self::Softplus,
        Self::Elu,
        Self::LeakyRelu,
        Self::Mish,
        Self::Hardswish,
        Self::QuickGelu,
    ];

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
            Self::Softplus => "softplus",
            Self::Elu => "elu",
            Self::LeakyRelu => "leaky_relu",
            Self::Mish => "mish",
            Self::Hardswish => "hardswish",
            Self::QuickGelu => "quick_gelu",
        }
    }

    /// The approximate number of operations per element.
    pub(crate) fn flops(self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Relu => 1.0,
            Self::LeakyRelu => 2.0,
            Self::Hardswish => 5.0,
            Self::Gelu | Self::GeluTanh | Self::Silu | Self::Sigmoid | Self::Tanh => 30.0,
            Self::Softplus | Self::Elu | Self::Mish | Self::QuickGelu => 40.0,
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
            Self::Softplus => "softplus",
            Self::Elu => "elu",
            Self::LeakyRelu => "leaky-relu",
            Self::Mish => "mish",
            Self::Hardswish => "hardswish",
            Self::QuickGelu => "quick-gelu",
        })
    }
}
