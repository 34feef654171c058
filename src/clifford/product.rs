//! The products of an algebra, term by term.

use super::algebra::{Signature, swaps};
use super::blades::{Blades, grade};
use crate::{Error, Result};
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

    /// The terms of a product of operands that have these blades. The result has every blade that has a term, in short-lex
    /// order; the scalar, which is then zero, where there is no term.
    ///
    /// # Errors
    /// [`Error::Input`] if the operands are of different algebras.
    pub fn terms(self, x: &Blades, y: &Blades) -> Result<Terms> {
        let signature = together(self, x, y)?;
        let mut has = [false; 256];
        for &a in x.masks() {
            for &b in y.masks() {
                if let Some((c, _)) = self.of_blades(signature, a, b) {
                    has[usize::from(c)] = true;
                }
            }
        }
        self.terms_onto(x, y, &signature.select(|c| has[usize::from(c)]))
    }

    /// The terms that end in some of the result's blades: a product and a projection in one.
    ///
    /// # Errors
    /// [`Error::Input`] if the operands or the result are of different algebras.
    pub fn terms_onto(self, x: &Blades, y: &Blades, out: &Blades) -> Result<Terms> {
        let signature = together(self, x, y)?;
        together(self, x, out)?;
        let mut places = [None; 256];
        for (k, &c) in (0..=u8::MAX).zip(out.masks()) {
            places[usize::from(c)] = Some(k);
        }
        let mut terms = Vec::new();
        for (i, &a) in (0..=u8::MAX).zip(x.masks()) {
            for (j, &b) in (0..=u8::MAX).zip(y.masks()) {
                let term = self.of_blades(signature, a, b);
                if let Some((out, sign)) = term.and_then(|(c, sign)| Some((places[usize::from(c)]?, sign))) {
                    terms.push(Term { x: i, y: j, out, sign });
                }
            }
        }
        terms.sort_by_key(|term| (term.out, term.x));
        Ok(Terms { x: x.len(), y: y.len(), out: out.clone(), terms })
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The algebra of both.
fn together(product: Product, x: &Blades, y: &Blades) -> Result<Signature> {
    if x.signature() == y.signature() {
        return Ok(x.signature());
    }
    let why = format!("the operands are of {} and {}", x.signature(), y.signature());
    Err(Error::input(product.name(), why))
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

/// One term of a product: $\mathrm{out}_{\mathrm{out}} \mathrel{+}= \mathrm{sign}\; x_{x} y_{y}$, by the places of blades
/// in operands and result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the formula above has them")]
pub struct Term {
    pub x: u8,
    pub y: u8,
    pub out: u8,
    pub sign: i8,
}

/// All terms of a product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Blades of the left operand.
    pub x: usize,
    /// Blades of the right operand.
    pub y: usize,
    /// The result's blades.
    pub out: Blades,
    /// The terms, by the result's blade, then by the left operand's.
    pub terms: Vec<Term>,
}

impl Terms {
    /// The most terms that one of the result's blades is the sum of.
    #[must_use]
    pub fn longest(&self) -> usize {
        let of = |k: usize| self.terms.iter().filter(|term| usize::from(term.out) == k).count();
        (0..self.out.len()).map(of).max().unwrap_or(0)
    }

    /// Sums of the absolute values of terms, per blade of the result: what the rounding errors of a product of these
    /// coefficients are relative to. What lies beyond the operands' blades counts as 0.
    #[must_use]
    pub fn magnitude(&self, x: &[f64], y: &[f64]) -> Vec<f64> {
        let of = |values: &[f64], i: u8| values.get(usize::from(i)).map_or(0.0, |value| value.abs());
        let mut sums = vec![0.0; self.out.len()];
        for term in &self.terms {
            sums[usize::from(term.out)] += of(x, term.x) * of(y, term.y);
        }
        sums
    }

    /// The terms of the gradient that the product hands back to its left operand, of blades `x`: a product of the result's
    /// gradient, on the left, and of the right operand.
    #[must_use]
    pub fn backward_x(&self, x: &Blades) -> Self {
        let term = |t: &Term| Term { x: t.out, y: t.y, out: t.x, sign: t.sign };
        Self::sorted(self.out.len(), self.y, x, self.terms.iter().map(term).collect())
    }

    /// The terms of the gradient that the product hands back to its right operand, of blades `y`: a product of the left
    /// operand, on the left, and of the result's gradient.
    #[must_use]
    pub fn backward_y(&self, y: &Blades) -> Self {
        let term = |t: &Term| Term { x: t.x, y: t.out, out: t.y, sign: t.sign };
        Self::sorted(self.x, self.out.len(), y, self.terms.iter().map(term).collect())
    }

    fn sorted(x: usize, y: usize, out: &Blades, mut terms: Vec<Term>) -> Self {
        terms.sort_by_key(|term| (term.out, term.x));
        Self { x, y, out: out.clone(), terms }
    }
}
