//! Linear functions of one multivector that permute blades and change their signs.

use super::blades::Blades;
use super::product::{left_complement, right_complement};
use super::signature::Signature;
use super::signs::{conjugate_sign, involute_sign, reverse_sign};
use std::fmt;

/// A linear function of one multivector that maps each blade to plus or minus one blade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unary {
    /// $\tilde x$: reverses the order of the vectors in every blade.
    Reverse,
    /// $\hat x$: negates every vector.
    Involute,
    /// $\bar x$, the Clifford conjugate: the reverse of the grade involution.
    Conjugate,
    /// The dual: maps a blade to its right complement, $e_{a} \wedge e_{a}^\ast = I$. It needs no metric. If all vectors
    /// square to 1, it is the Hodge dual $\tilde x I$.
    Dual,
    /// The inverse of the dual: maps a blade to its left complement.
    Undual,
}

impl Unary {
    /// Every function.
    pub const ALL: [Self; 5] = [Self::Reverse, Self::Involute, Self::Conjugate, Self::Dual, Self::Undual];

    /// The name in errors and plans.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Reverse => "reverse",
            Self::Involute => "involute",
            Self::Conjugate => "conjugate",
            Self::Dual => "dual",
            Self::Undual => "undual",
        }
    }

    /// The image of a blade, and its sign.
    #[must_use]
    pub fn of_blade(self, signature: Signature, blade: u8) -> (u8, i8) {
        match self {
            Self::Reverse => (blade, reverse_sign(blade)),
            Self::Involute => (blade, involute_sign(blade)),
            Self::Conjugate => (blade, conjugate_sign(blade)),
            Self::Dual => right_complement(signature, blade),
            Self::Undual => left_complement(signature, blade),
        }
    }

    /// The function of the backward pass, its adjoint. It is the inverse, since the function permutes blades and
    /// changes signs.
    #[must_use]
    pub fn backward(self) -> Self {
        match self {
            Self::Dual => Self::Undual,
            Self::Undual => Self::Dual,
            own => own,
        }
    }

    /// The blades of the result: those of `x` if the function keeps blades, otherwise in short-lex order.
    #[must_use]
    pub fn blades(self, x: &Blades) -> Blades {
        match self {
            Self::Dual | Self::Undual => {
                let signature = x.signature();
                signature.select(|c| x.position(signature.pseudoscalar() & !c).is_some())
            }
            _ => x.clone(),
        }
    }
}

impl fmt::Display for Unary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
