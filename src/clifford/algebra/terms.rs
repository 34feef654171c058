//! The terms of a product: its multiplication table for given blades of operands and result.

use super::blades::Blades;
use super::product::Product;
use super::signature::Signature;
use crate::{Error, Result};

impl Product {
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

/// The algebra of both.
fn together(product: Product, x: &Blades, y: &Blades) -> Result<Signature> {
    if x.signature() == y.signature() {
        return Ok(x.signature());
    }
    let why = format!("the operands are of {} and {}", x.signature(), y.signature());
    Err(Error::input(product.name(), why))
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
