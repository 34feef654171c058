//! Conversion of multivectors to an algebra with its vectors in another order.

use super::multivector::Multivector;
use crate::Result;
use crate::clifford::algebra::reorder::permuted_blade;
use crate::clifford::algebra::signature::Signature;

impl Multivector {
    /// Converts to the algebra `to`, which has the same vectors in another order, such as the null vector first. Blades
    /// get other names, and some change their sign, since $e_{1} e_{0} = -e_{0} e_{1}$.
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
    /// [`Error::Input`](crate::Error::Input) if `to` has other vectors.
    pub fn reordered(&self, to: Signature) -> Result<Self> {
        let places = self.signature().vector_permutation(to)?;
        let mut out = Self::zero(to);
        for (a, &of_a) in (0..=u8::MAX).zip(self.coefficients()) {
            let (c, sign) = permuted_blade(&places, a);
            *out.coefficient_mut(c) = f64::from(sign) * of_a;
        }
        Ok(out)
    }
}
