//! Versors on the CPU, in f64: inverse, normalisation and sandwich.

use super::multivector::Multivector;
use crate::clifford::algebra::blades::Parity;
use crate::{Error, Result};

/// The bound of the non-scalar parts of $x \tilde x$, relative to $\sum_{a} x_{a}^2$. A versor whose coefficients were
/// rounded to f32, each with relative error $2^{-24}$, has at most $2 \cdot 2^{-24}$, by Cauchy's inequality. The bound
/// is twice that.
const ROUNDED: f64 = 1.0 / (1 << 22) as f64;
/// The bound of the rounding error of a square whose terms cancel, relative to its terms, in f64.
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
    /// [`Error::Input`] if x is null or not a versor: a non-scalar part of $x \tilde x$ exceeds
    /// $2^{-22} \sum_{a} x_{a}^2$, more than the rounding of a versor to f32 leaves.
    /// # Precision
    /// If x is an exact versor, each coefficient is rounded three times.
    pub fn inverse(&self) -> Result<Self> {
        let square = self.versor_square("inverse")?;
        Ok(self.reverse().scaled(1.0 / square))
    }

    /// The multivector scaled to norm 1, $x / \sqrt{|\langle \tilde x x \rangle_{0}|}$. It need not be a versor.
    ///
    /// # Errors
    /// [`Error::Input`] if x is null, that is, if its norm is 0 to within rounding.
    pub fn normalized(&self) -> Result<Self> {
        Ok(self.scaled(1.0 / self.non_null_square("normalized")?.abs().sqrt()))
    }

    /// Applies this versor to a multivector: $v x \tilde v$ if v is even (a rotation or a motion), $v \hat x \tilde v$
    /// if v is odd (a reflection). The map is linear, keeps grades, and maps products to products.
    ///
    /// A vector a of square 1 reflects in the plane orthogonal to it, $x \mapsto -axa$. In PGA it reflects in the plane
    /// that it represents, and a reflected point has weight -1.
    ///
    /// There is no division by the norm: the result is scaled by $v \tilde v = \pm r^2$ for a versor of norm r.
    /// `v.normalized()?.sandwich(&x)` leaves only the sign, which is -1 if v is a product with an odd number of vectors
    /// of square -1.
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
    /// [`Error::Input`] if the operands belong to different algebras, or v has both even and odd parts.
    pub fn sandwich(&self, x: &Self) -> Result<Self> {
        let x = match self.parity("sandwich")? {
            Parity::Even => x.clone(),
            Parity::Odd => x.involute(),
        };
        self.geometric(&x)?.geometric(&self.reverse())
    }

    /// The parity of the nonzero blades; even for zero.
    pub(super) fn parity(&self, op: &'static str) -> Result<Parity> {
        let has = |odd: u32| {
            (0..=u8::MAX).zip(self.coefficients()).any(|(a, &x)| a.count_ones() % 2 == odd && x != 0.0)
        };
        match (has(0), has(1)) {
            (_, false) => Ok(Parity::Even),
            (false, true) => Ok(Parity::Odd),
            (true, true) => {
                Err(Error::input(op, "a versor has even blades or odd ones, and the operand has both"))
            }
        }
    }

    /// The square $x \tilde x$ of a non-null versor.
    pub(super) fn versor_square(&self, op: &'static str) -> Result<f64> {
        let square = self.non_null_square(op)?;
        let product = self.geometric(&self.reverse())?;
        let allowed = ROUNDED * self.coefficients().iter().map(|x| x * x).sum::<f64>();
        let rest =
            (0..=u8::MAX).zip(product.coefficients()).skip(1).max_by(|x, y| x.1.abs().total_cmp(&y.1.abs()));
        match rest {
            Some((blade, &part)) if part.abs() > allowed || part.is_nan() => {
                let why = format!(
                    "x is not a versor: x times its reverse must be a scalar, and it has {part:e} of {}",
                    self.signature().name(blade)
                );
                Err(Error::input(op, why))
            }
            _ => Ok(square),
        }
    }

    /// The quadratic form $\langle \tilde x x \rangle_{0}$ of a multivector that is not null to within rounding.
    fn non_null_square(&self, op: &'static str) -> Result<f64> {
        let square = self.quadratic();
        let of = |(a, x): (u8, &f64)| f64::from(self.signature().square(a).abs()) * x * x;
        let terms: f64 = (0..=u8::MAX).zip(self.coefficients()).map(of).sum();
        if square.abs() > CANCELLED * terms {
            return Ok(square);
        }
        Err(Error::input(
            op,
            format!("the multivector is null: its square is {square:e}, from terms that sum to {terms:e}"),
        ))
    }
}
