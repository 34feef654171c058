//! The terms of a product: its multiplication table for given blades of operands and result.

use super::blades::Blades;
use super::product::Product;
use crate::{Error, Result};

impl Product {
    /// The terms of the product of operands with these blades. The result has every blade that has a term, in short-lex
    /// order; if no blade has a term, it has the scalar, which is zero. [`Terms::select`] restricts the result.
    ///
    /// # Errors
    /// [`Error::Input`] if the operands belong to different algebras.
    pub fn terms(self, x: &Blades, y: &Blades) -> Result<Terms> {
        let signature = x.signature();
        check_signatures(self, x, y)?;
        let mut terms = Vec::new();
        let mut has = [false; 256];
        for (i, &a) in (0..=u8::MAX).zip(x.masks()) {
            for (j, &b) in (0..=u8::MAX).zip(y.masks()) {
                if let Some((c, sign)) = self.of_blades(signature, a, b) {
                    has[usize::from(c)] = true;
                    terms.push(Term { x: i, y: j, out: c, sign }); // by its bitmask, so far
                }
            }
        }
        let out = signature.select(|c| has[usize::from(c)]);
        let positions = positions(&out);
        for term in &mut terms {
            term.out = positions[usize::from(term.out)].unwrap_or_default();
        }
        Ok(Terms::sorted(self, [x.len(), y.len()], &out, terms))
    }
}

/// Checks that two lists of blades belong to the same algebra.
fn check_signatures(product: Product, x: &Blades, y: &Blades) -> Result<()> {
    if x.signature() == y.signature() {
        return Ok(());
    }
    let why = format!("the operands are of {} and {}", x.signature(), y.signature());
    Err(Error::input(product.name(), why))
}

/// The index of each blade, by its bitmask.
fn positions(blades: &Blades) -> [Option<u8>; 256] {
    let mut positions = [None; 256];
    for (k, &c) in (0..=u8::MAX).zip(blades.masks()) {
        positions[usize::from(c)] = Some(k);
    }
    positions
}

/// One term of a product: $\mathrm{out}\_{\mathrm{out}} \mathrel{+}= \mathrm{sign}\\; x_{x} y_{y}$. The indices are those
/// of the blades in the operands and the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "defined by the formula above")]
pub struct Term {
    pub x: u8,
    pub y: u8,
    pub out: u8,
    pub sign: i8,
}

/// All terms of a product: its multiplication table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The product.
    pub product: Product,
    /// Number of blades of the left operand.
    pub x: usize,
    /// Number of blades of the right operand.
    pub y: usize,
    /// Blades of the result.
    pub out: Blades,
    /// The terms, ordered by the result's blade, then by the left operand's blade.
    pub terms: Vec<Term>,
}

impl Terms {
    /// The terms that contribute to some blades of the result: a product and a projection in one.
    ///
    /// ```
    /// use tilewise::clifford::{Product, Signature};
    ///
    /// let algebra = Signature::CL3;
    /// let all = Product::Geometric.terms(&algebra.vectors(), &algebra.vectors())?;
    /// let bivectors = all.select(&algebra.bivectors())?;
    /// assert_eq!((all.terms.len(), bivectors.terms.len()), (9, 6));
    /// # Ok::<(), tilewise::Error>(())
    /// ```
    /// # Errors
    /// [`Error::Input`] if the blades belong to another algebra.
    pub fn select(&self, out: &Blades) -> Result<Self> {
        check_signatures(self.product, &self.out, out)?;
        let positions = positions(out);
        let blade = |term: &Term| self.out.masks()[usize::from(term.out)];
        let select = |term: &Term| Some(Term { out: positions[usize::from(blade(term))]?, ..*term });
        let terms = self.terms.iter().filter_map(select).collect();
        Ok(Self::sorted(self.product, [self.x, self.y], out, terms))
    }

    /// The largest number of terms of one blade of the result.
    #[must_use]
    pub fn max_terms_per_blade(&self) -> usize {
        let of = |k: usize| self.terms.iter().filter(|term| usize::from(term.out) == k).count();
        (0..self.out.len()).map(of).max().unwrap_or(0)
    }

    /// The sum of the terms' absolute values for each blade of the result. Bounds of rounding errors are relative to
    /// it. Missing coefficients count as 0.
    #[must_use]
    pub fn magnitude(&self, x: &[f64], y: &[f64]) -> Vec<f64> {
        let of = |values: &[f64], i: u8| values.get(usize::from(i)).map_or(0.0, |value| value.abs());
        let mut sums = vec![0.0; self.out.len()];
        for term in &self.terms {
            sums[usize::from(term.out)] += of(x, term.x) * of(y, term.y);
        }
        sums
    }

    /// The terms of the gradient with respect to the left operand, whose blades are `x`. Its operands are the gradient
    /// of the result and the right operand, in this order.
    #[must_use]
    pub fn backward_x(&self, x: &Blades) -> Self {
        let term = |t: &Term| Term { x: t.out, y: t.y, out: t.x, sign: t.sign };
        Self::sorted(self.product, [self.out.len(), self.y], x, self.terms.iter().map(term).collect())
    }

    /// The terms of the gradient with respect to the right operand, whose blades are `y`. Its operands are the left
    /// operand and the gradient of the result, in this order.
    #[must_use]
    pub fn backward_y(&self, y: &Blades) -> Self {
        let term = |t: &Term| Term { x: t.x, y: t.out, out: t.y, sign: t.sign };
        Self::sorted(self.product, [self.x, self.out.len()], y, self.terms.iter().map(term).collect())
    }

    fn sorted(product: Product, [x, y]: [usize; 2], out: &Blades, mut terms: Vec<Term>) -> Self {
        terms.sort_by_key(|term| (term.out, term.x));
        Self { product, x, y, out: out.clone(), terms }
    }
}
