//! Conversion of batches to an algebra with its vectors in another order.

use super::multivectors::Multivectors;
use crate::Result;
use crate::clifford::algebra::blades::Blades;
use crate::clifford::algebra::function::Function;
use crate::clifford::algebra::reorder::permuted_blade;
use crate::clifford::algebra::signature::Signature;
use crate::error::call;
use crate::layout::Real;

impl<T: Real> Multivectors<T> {
    /// Converts to the algebra `to`, which has the same vectors in another order
    /// ([`Multivector::reordered`](crate::clifford::Multivector::reordered)). Coefficients are not moved. One launch
    /// changes the signs; it is omitted if no sign changes.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) if `to` has other vectors; otherwise as [`unary`](Self::unary).
    pub fn reordered(&self, to: Signature) -> Result<Self> {
        call("reordered", || {
            let places = self.signature().vector_permutation(to)?;
            let (masks, signs): (Vec<u8>, Vec<i8>) =
                self.blades().masks().iter().map(|&blade| permuted_blade(&places, blade)).unzip();
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
