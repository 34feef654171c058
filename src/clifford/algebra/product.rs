//! The bilinear products of an algebra, on basis blades.

use super::signature::Signature;
use super::signs::{grade, swaps};
use std::fmt;

/// A bilinear product of multivectors, defined by its values on basis blades a and b of grades $g_{a}$ and $g_{b}$.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Product {
    /// $ab$.
    Geometric,
    /// $a \wedge b$: the part of $ab$ of grade $g_{a} + g_{b}$.
    Outer,
    /// $a \rfloor b$: the part of grade $g_{b} - g_{a}$; zero if $g_{b} < g_{a}$.
    LeftContraction,
    /// $a \lfloor b$: the part of grade $g_{a} - g_{b}$; zero if $g_{a} < g_{b}$.
    RightContraction,
    /// $a \cdot b$, Hestenes' inner product: the part of grade $|g_{a} - g_{b}|$; zero if either is a scalar.
    Hestenes,
    /// $a \bullet b$, the fat dot: the part of grade $|g_{a} - g_{b}|$.
    FatDot,
    /// $\langle ab \rangle_{0}$: the scalar part, without a reverse.
    Scalar,
    /// $a \vee b$: the undual of the outer product of the duals. It needs no metric. In PGA it joins points; the outer
    /// product intersects planes.
    Regressive,
    /// $(ab - ba) / 2$.
    Commutator,
}

impl Product {
    /// Every product.
    pub const ALL: [Self; 9] = [
        Self::Geometric,
        Self::Outer,
        Self::LeftContraction,
        Self::RightContraction,
        Self::Hestenes,
        Self::FatDot,
        Self::Scalar,
        Self::Regressive,
        Self::Commutator,
    ];

    /// The name in errors and plans.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Geometric => "geometric",
            Self::Outer => "outer",
            Self::LeftContraction => "left_contraction",
            Self::RightContraction => "right_contraction",
            Self::Hestenes => "hestenes",
            Self::FatDot => "fat_dot",
            Self::Scalar => "scalar",
            Self::Regressive => "regressive",
            Self::Commutator => "commutator",
        }
    }

    /// The product of two basis blades: a blade and its sign, or `None` if it is zero.
    #[must_use]
    pub fn of_blades(self, signature: Signature, a: u8, b: u8) -> Option<(u8, i8)> {
        let within = |x: u8, y: u8| x & !y == 0;
        let is_nonzero = match self {
            Self::Geometric => true,
            Self::Outer => a & b == 0,
            Self::LeftContraction => within(a, b),
            Self::RightContraction => within(b, a),
            Self::Hestenes => a != 0 && b != 0 && (within(a, b) || within(b, a)),
            Self::FatDot => within(a, b) || within(b, a),
            Self::Scalar => a == b,
            Self::Regressive => return regressive(signature, a, b),
            Self::Commutator => anticommute(a, b),
        };
        let sign = signature.sign(a, b);
        (is_nonzero && sign != 0).then_some((a ^ b, sign))
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether $e_{a} e_{b} = - e_{b} e_{a}$: every vector of a is swapped with every other vector of b.
fn anticommute(a: u8, b: u8) -> bool {
    (grade(a) * grade(b) + grade(a & b)) % 2 == 1
}

/// $a \vee b$: the blade whose right complement is the outer product of the right complements of a and b.
fn regressive(signature: Signature, a: u8, b: u8) -> Option<(u8, i8)> {
    let ((a, of_a), (b, of_b)) = (right_complement(signature, a), right_complement(signature, b));
    if a & b != 0 {
        return None;
    }
    let (c, of_c) = left_complement(signature, a | b);
    let swapped = if swaps(a, b).is_multiple_of(2) { 1 } else { -1 };
    Some((c, of_a * of_b * swapped * of_c))
}

/// The right complement of $e_{a}$ and its sign: $e_{a} \wedge \bar e_{a} = I$. It needs no metric.
#[must_use]
pub fn right_complement(signature: Signature, a: u8) -> (u8, i8) {
    let rest = signature.pseudoscalar() & !a;
    (rest, if swaps(a, rest).is_multiple_of(2) { 1 } else { -1 })
}

/// The left complement of $e_{a}$ and its sign: $\underline e_{a} \wedge e_{a} = I$. It is the inverse of
/// [`right_complement`].
#[must_use]
pub fn left_complement(signature: Signature, a: u8) -> (u8, i8) {
    let rest = signature.pseudoscalar() & !a;
    (rest, if swaps(rest, a).is_multiple_of(2) { 1 } else { -1 })
}
