//! Versors on the CPU, in f64: inverses, norms of one, and what they do to multivectors.

use super::multivector::Multivector;
use crate::clifford::algebra::blades::Parity;
use crate::{Error, Result};

/// What $x \tilde x$ may have beside its scalar part, relative to $\sum_{a} x_{a}^2$: a versor whose coefficients have been
/// rounded to f32, each by $2^{-24}$ of itself, has at most $2 \cdot 2^{-24}$, by Cauchy's inequality. Twice that.
const ROUNDED: f64 = 1.0 / (1 << 22) as f64;
/// What is left of a square of which everything cancels, relative to its terms: rounding of f64.
const CANCELLED: f64 = 1.0 / (1u64 << 48) as f64;

/// Versors: products of vectors.
impl Multivector {
    /// The inverse of a versor, $x^{-1} = \tilde x / (x \tilde x)$.
    ///
    /// ```
    /// use tilewise::clifford::{Multivector, Signature};
    ///
    /// # fn main() -> tilewise::Result<()> {
    /// let x = Multivector::new(&Signature::CL3.even(), &[1.0, 2.0, 0.0, 2.0])?;
    /// assert_eq!(x.geometric(&x.inverse()?)?, Multivector::scalar_of(Signature::CL3, 1.0));
    /// # Ok(())
    /// # }
    /// ```
    /// # Errors
    /// [`Error::Input`] if x is no versor: $x \tilde x$ has other parts than the scalar, beyond what rounding of a versor
    /// to f32 leaves ($2^{-22} \sum_{a} x_{a}^2$); or if it is null.
    /// # Precision
    /// As far as x is a versor: each coefficient is rounded three times.
    pub fn inverse(&self) -> Result<Self> {
        let square = self.versor_square("inverse")?;
        Ok(self.reverse().scaled(1.0 / square))
    }

    /// The multivector of norm 1, $x / \sqrt{|\langle \tilde x x \rangle_{0}|}$.
    ///
    /// It need not be a versor.
    ///
    /// # Errors
    /// [`Error::Input`] if x is null: its norm is 0, to within rounding.
    pub fn normalized(&self) -> Result<Self> {
        Ok(self.scaled(1.0 / self.square_of_none_null("normalized")?.abs().sqrt()))
    }

    /// What this versor does to a multivector: $v x \tilde v$ if it is even, a rotation, a motion; $v \hat x \tilde v$ if
    /// it is odd, a reflection. This is linear in x, keeps its grades, and takes products to products.
    ///
    /// A vector a of square 1 reflects in the plane orthogonal to it, $x \mapsto -axa$; in PGA, in the plane that it is.
    /// There, a reflected point has weight -1.
    ///
    /// Nothing is divided: with a versor of norm 1, or of any norm r, lengths are those of x times $v \tilde v = \pm r^2$.
    /// `v.normalized()?.sandwich(&x)` leaves only the sign, -1 where v has an odd number of vectors of square -1.
    ///
    /// ```
    /// use tilewise::clifford::{Pga, Signature};
    ///
    /// # fn main() -> tilewise::Result<()> {
    /// let space = Pga::<3>::new(Signature::PGA3D)?;
    /// let moved = space.translator([1.0, 0.0, 0.5]).sandwich(&space.point([0.0, 2.0, 0.0]))?;
    /// assert_eq!(space.coordinates(&moved)?, [1.0, 2.0, 0.5]);
    /// let mirrored = space.plane([1.0, 0.0, 0.0], -1.0).sandwich(&moved)?; // the plane x = 1
    /// assert_eq!(space.coordinates(&mirrored)?, [1.0, 2.0, 0.5]);
    /// # Ok(())
    /// # }
    /// ```
    /// # Errors
    /// [`Error::Input`] if the operands are of different algebras, or v has both even and odd parts.
    pub fn sandwich(&self, x: &Self) -> Result<Self> {
        let x = match self.parity("sandwich")? {
            Parity::Even => x.clone(),
            Parity::Odd => x.involute(),
        };
        self.geometric(&x)?.geometric(&self.reverse())
    }

    /// Whether all blades are even, as those of zero are, or all odd.
    pub(super) fn parity(&self, op: &'static str) -> Result<Parity> {
        let has = |odd: u32| {
            (0..=u8::MAX).zip(self.coefficients()).any(|(a, &x)| a.count_ones() % 2 == odd && x != 0.0)
        };
        match (has(0), has(1)) {
            (_, false) => Ok(Parity::Even),
            (false, true) => Ok(Parity::Odd),
            (true, true) => Err(Error::input(op, "a versor has even blades or odd ones, and this has both")),
        }
    }

    /// $x \tilde x$ of a versor that is not null.
    pub(super) fn versor_square(&self, op: &'static str) -> Result<f64> {
        let square = self.square_of_none_null(op)?;
        let product = self.geometric(&self.reverse())?;
        let allowed = ROUNDED * self.coefficients().iter().map(|x| x * x).sum::<f64>();
        let rest =
            (0..=u8::MAX).zip(product.coefficients()).skip(1).max_by(|x, y| x.1.abs().total_cmp(&y.1.abs()));
        match rest {
            Some((blade, &part)) if part.abs() > allowed || part.is_nan() => {
                let why = format!(
                    "x times its reverse is no scalar, so x is no versor: it has {part:e} of {}",
                    self.signature().name(blade)
                );
                Err(Error::input(op, why))
            }
            _ => Ok(square),
        }
    }

    /// $\langle \tilde x x \rangle_{0}$, unless that is nothing but rounding.
    fn square_of_none_null(&self, op: &'static str) -> Result<f64> {
        let square = self.quadratic();
        let of = |(a, x): (u8, &f64)| f64::from(self.signature().square(a).abs()) * x * x;
        let terms: f64 = (0..=u8::MAX).zip(self.coefficients()).map(of).sum();
        if square.abs() > CANCELLED * terms {
            return Ok(square);
        }
        Err(Error::input(
            op,
            format!("the multivector is null: its square is {square:e}, of terms that sum to {terms:e}"),
        ))
    }
}
