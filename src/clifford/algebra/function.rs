//! What kernels compute of multivectors, as plain data.

use super::product::Product;
use super::unary::Unary;

/// A function of one multivector or two, at every position of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Function {
    /// A product $xy$.
    Product(Product),
    /// What a product's result hands back to its left operand: of that gradient, and of the right operand.
    BackwardX(Product),
    /// What a product's result hands back to its right operand: of the left operand, and of that gradient.
    BackwardY(Product),
    /// A change of signs and places.
    Unary(Unary),
    /// The same multivector on other blades: what is missing is 0, what is not asked for is left out.
    Select,
    /// The signs of some blades changed: of those whose bits are set, by their bitmasks, 64 in a word.
    Negate([u64; 4]),
    /// The norm $\sqrt{|\langle \tilde x x \rangle_{0}|}$.
    Norm,
    /// What the norm hands back: of the multivector, and of the norm's gradient.
    NormBackward,
    /// The inverse of a versor, $\tilde x / \langle \tilde x x \rangle_{0}$.
    Inverse,
    /// What the inverse hands back: of the versor, and of the inverse's gradient.
    InverseBackward,
    /// The multivector of norm 1, $x / \sqrt{|\langle \tilde x x \rangle_{0}|}$.
    Normalize,
    /// The exponential of a bivector.
    Exp,
    /// The logarithm of a motor.
    Log(Branch),
    /// The logarithm of $\tilde x y$, the shorter of both, with motors x and y.
    Way,
    /// What a versor x does to a multivector y, $x y \tilde x$ or $x \hat y \tilde x$.
    Sandwich,
}

/// Which of the logarithms of a motion, that of the motor or that of the motor times -1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Branch {
    /// That of the motor itself, $\theta$ in $[0, \pi]$.
    Whole,
    /// That of less angle, $\theta$ in $[0, \pi/2]$.
    Shorter,
}

impl Function {
    /// The name that errors and plans have for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Product(product) | Self::BackwardX(product) | Self::BackwardY(product) => product.name(),
            Self::Unary(function) => function.name(),
            Self::Select => "select",
            Self::Negate(_) => "negate",
            Self::Norm => "norm",
            Self::NormBackward => "norm_backward",
            Self::Inverse => "inverse",
            Self::InverseBackward => "inverse_backward",
            Self::Normalize => "normalized",
            Self::Exp => "exp",
            Self::Log(_) => "log",
            Self::Way => "interpolate",
            Self::Sandwich => "sandwich",
        }
    }

    /// Operands beside the result.
    #[must_use]
    pub fn operands(self) -> usize {
        match self {
            Self::Unary(_)
            | Self::Select
            | Self::Negate(_)
            | Self::Norm
            | Self::Inverse
            | Self::Normalize
            | Self::Exp
            | Self::Log(_) => 1,
            _ => 2,
        }
    }
}
