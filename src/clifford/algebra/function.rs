//! The functions of multivectors that kernels compute.

use super::product::Product;
use super::unary::Unary;

/// A function of one or two multivectors, computed at every position of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Function {
    /// A product $xy$.
    Product(Product),
    /// The gradient of a product with respect to x. Operands: the gradient of the result, and y.
    BackwardX(Product),
    /// The gradient of a product with respect to y. Operands: x, and the gradient of the result.
    BackwardY(Product),
    /// A permutation of blades with signs.
    Unary(Unary),
    /// The same multivector on another list of blades. Missing blades are 0; other blades are dropped.
    Select,
    /// As [`Select`](Self::Select), with some blades negated. Bit `m % 64` of word `m / 64` says whether the blade of bitmask m
    /// changes its sign.
    Negate([u64; 4]),
    /// The norm $\sqrt{|\langle \tilde x x \rangle_{0}|}$.
    Norm,
    /// The backward pass of the norm. Operands: the multivector, and the gradient of the norm.
    NormBackward,
    /// The inverse of a versor, $\tilde x / \langle \tilde x x \rangle_{0}$.
    Inverse,
    /// The backward pass of the inverse. Operands: the versor, and the gradient of the inverse.
    InverseBackward,
    /// The multivector scaled to norm 1, $x / \sqrt{|\langle \tilde x x \rangle_{0}|}$.
    Normalize,
    /// The exponential of a bivector.
    Exp,
    /// The logarithm of a motor.
    Log(LogBranch),
    /// The shortest logarithm of the relative motor $\tilde x y$ of two motors x and y.
    LogBetween,
    /// A versor x applied to a multivector y: $x y \tilde x$ if x is even, $x \hat y \tilde x$ if it is odd.
    Sandwich,
}

/// The branch of the logarithm. A motor m and -m are the same motion, but have different logarithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogBranch {
    /// The logarithm of m, with $\theta$ in $[0, \pi]$.
    OfMotor,
    /// The logarithm of m or -m, whichever has the smaller angle, $\theta$ in $[0, \pi/2]$.
    Shortest,
}

impl Function {
    /// The name in errors and plans.
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
            Self::LogBetween => "interpolate",
            Self::Sandwich => "sandwich",
        }
    }

    /// The number of operands, without the result.
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
