//! The products of an algebra, term by term.

use super::signature::Signature;
use super::signs::{grade, swaps};
use std::fmt;

/// A bilinear product of multivectors, defined on blades; c is the blade $a \oplus b$.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Product {
    /// $ab$.
    Geometric,
    /// $a \wedge b$: the part of $ab$ of grade $g_{a} + g_{b}$.
    Outer,
    /// $a \rfloor b$: the part of grade $g_{b} - g_{a}$; zero where b is of less grade.
    LeftContraction,
    /// $a \lfloor b$: the part of grade $g_{a} - g_{b}$; zero where a is of less grade.
    RightContraction,
    /// $a \cdot b$, Hestenes' inner product: the part of grade $|g_{a} - g_{b}|$; zero where either is a scalar.
    Hestenes,
    /// $a \bullet b$, the fat dot: the part of grade $|g_{a} - g_{b}|$.
    FatDot,
    /// $\langle ab \rangle_{0}$: the scalar part. There is no reverse in it.
    Scalar,
    /// $a \vee b$: the outer product of duals, undone; it needs no metric. In PGA it joins points, where the outer product
    /// intersects planes.
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

    /// The name that errors and plans have for it.
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

    /// The product of two basis blades: a blade and its sign, or nothing.
    #[must_use]
    pub fn of_blades(self, signature: Signature, a: u8, b: u8) -> Option<(u8, i8)> {
        let within = |x: u8, y: u8| x & !y == 0;
        let is_there = match self {
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
        (is_there && sign != 0).then_some((a ^ b, sign))
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether $e_{a} e_{b} = - e_{b} e_{a}$ by the order of the vectors: each of a passes each of b but itself.
fn anticommute(a: u8, b: u8) -> bool {
    (grade(a) * grade(b) + grade(a & b)) % 2 == 1
}

/// $a \vee b$ is the blade whose right complement is $\bar a \wedge \bar b$.
fn regressive(signature: Signature, a: u8, b: u8) -> Option<(u8, i8)> {
    let ((a, of_a), (b, of_b)) = (right_complement(signature, a), right_complement(signature, b));
    if a & b != 0 {
        return None;
    }
    let (c, of_c) = left_complement(signature, a | b);
    let swapped = if swaps(a, b).is_multiple_of(2) { 1 } else { -1 };
    Some((c, of_a * of_b * swapped * of_c))
}

/// The blade that completes $e_{a}$ from the right, and its sign: $e_{a} \wedge \bar e_{a} = I$. It needs no metric.
#[must_use]
pub fn right_complement(signature: Signature, a: u8) -> (u8, i8) {
    let rest = signature.pseudoscalar() & !a;
    (rest, if swaps(a, rest).is_multiple_of(2) { 1 } else { -1 })
}

/// The blade that completes $e_{a}$ from the left, and its sign: $\underline e_{a} \wedge e_{a} = I$. It undoes
/// [`right_complement`].
#[must_use]
pub fn left_complement(signature: Signature, a: u8) -> (u8, i8) {
    let rest = signature.pseudoscalar() & !a;
    (rest, if swaps(rest, a).is_multiple_of(2) { 1 } else { -1 })
}
