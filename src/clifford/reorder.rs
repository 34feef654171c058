//! The same multivectors in an algebra whose vectors stand in another order.

use super::algebra::Signature;
use super::blades::Blades;
use super::function::Function;
use super::multivector::Multivector;
use super::multivectors::Multivectors;
use crate::error::call;
use crate::layout::Real;
use crate::{Error, Result};

impl Signature {
    /// Which vector of another order each of these is: of those that square to the same, the first is the first.
    fn places_in(self, to: Self) -> Result<Vec<usize>> {
        if self.pqr() != to.pqr() {
            let why = format!("{self} has not the vectors of {to} in another order");
            return Err(Error::input("reordered", why));
        }
        let mut free: Vec<(usize, i8)> = to.squares().iter().copied().enumerate().collect();
        let mut take = |square: i8| free.iter().position(|&(_, of)| of == square).map(|at| free.remove(at).0);
        Ok(self.squares().iter().filter_map(|&square| take(square)).collect())
    }
}

/// The blade that a product of vectors is where they stand in these places, and its sign: of as many swaps as there are
/// pairs out of order.
fn carried(places: &[usize], blade: u8) -> (u8, i8) {
    let vectors = places.iter().enumerate().filter(|(i, _)| blade >> i & 1 == 1).map(|(_, &place)| place);
    vectors.fold((0, 1), |(mask, sign), place| {
        let passed = (mask >> place).count_ones();
        (mask | 1 << place, if passed.is_multiple_of(2) { sign } else { -sign })
    })
}

impl Multivector {
    /// The same in an algebra whose vectors stand in another order, such as the null vector first: blades are named
    /// otherwise, and some change sign, as $e_{1} e_{0} = -e_{0} e_{1}$.
    ///
    /// ```
    /// use tilewise::clifford::{Multivector, Signature};
    ///
    /// # fn main() -> tilewise::Result<()> {
    /// let last = Multivector::parse(Signature::PGA3D, "1 + 2e10 + e23")?;
    /// let first = last.reordered(Signature::PGA3D.null_first())?;
    /// assert_eq!(first.to_string(), "1 - 2e01 + e23");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Input`] if the other algebra has other vectors.
    pub fn reordered(&self, to: Signature) -> Result<Self> {
        let places = self.signature().places_in(to)?;
        let mut out = Self::zero(to);
        for (a, &of_a) in (0..=u8::MAX).zip(self.coefficients()) {
            let (c, sign) = carried(&places, a);
            *out.coefficient_mut(c) = f64::from(sign) * of_a;
        }
        Ok(out)
    }
}

impl<T: Real> Multivectors<T> {
    /// The same in an algebra whose vectors stand in another order ([`Multivector::reordered`]). Coefficients stay where they
    /// are: one launch changes signs, and none is needed where none changes.
    ///
    /// # Errors
    /// [`Error::Input`] if the other algebra has other vectors; otherwise as [`unary`](Self::unary).
    pub fn reordered(&self, to: Signature) -> Result<Self> {
        call("reordered", || {
            let places = self.signature().places_in(to)?;
            let (masks, signs): (Vec<u8>, Vec<i8>) =
                self.blades().masks().iter().map(|&blade| carried(&places, blade)).unzip();
            let blades = Blades::new(to, &masks)?;
            let mut negative = [0; 4];
            for (&mask, _) in masks.iter().zip(&signs).filter(|(_, sign)| **sign < 0) {
                negative[usize::from(mask / 64)] |= 1 << (mask % 64);
            }
            let renamed = Self::new(self.tensor().clone(), &blades, self.axis())?;
            if negative == [0; 4] {
                Ok(renamed)
            } else {
                renamed.run(Function::Negate(negative), None, &blades)
            }
        })
    }
}
