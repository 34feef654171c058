//! Linear functions of one multivector that only change signs and places of blades.

use super::blades::Blades;
use super::product::{left_complement, right_complement};
use super::signature::Signature;
use super::signs::{conjugate_sign, involute_sign, reverse_sign};
use std::fmt;

/// A function of one multivector that takes every blade to one blade, with a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unary {
    /// $\tilde x$: products of vectors, written backwards.
    Reverse,
    /// $\hat x$: every vector changes sign.
    Involute,
    /// $\bar x$, the Clifford conjugate: the reverse of the involution.
    Conjugate,
    /// The dual: of a blade the one that completes it from the right, $e_{a} \wedge e_{a}^* = I$. It needs no metric; where
    /// all vectors square to 1 it is Hodge's, $\tilde x I$.
    Dual,
    /// What undoes the dual: of a blade the one that completes it from the left.
    Undual,
}

impl Unary {
    /// Every function.
    pub const ALL: [Self; 5] = [Self::Reverse, Self::Involute, Self::Conjugate, Self::Dual, Self::Undual];

    /// The name that errors and plans have for it.
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

    /// The blade that a blade becomes, and its sign.
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

    /// The function that its gradient is handed back by, its adjoint: what undoes it, as it only permutes blades and
    /// changes signs.
    #[must_use]
    pub fn backward(self) -> Self {
        match self {
            Self::Dual => Self::Undual,
            Self::Undual => Self::Dual,
            own => own,
        }
    }

    /// The blades of the result: as those of `x` lie where the function keeps blades, in short-lex order otherwise.
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
