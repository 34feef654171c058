//! Views of batches: positions of another shape, or some of the positions.

use super::multivectors::Multivectors;
use crate::clifford::algebra::blades::Blades;
use crate::clifford::algebra::function::Function;
use crate::clifford::algebra::reorder::permuted_blade;
use crate::clifford::algebra::signature::Signature;
use crate::clifford::problem::BladeAxis;
use crate::error::call;
use crate::layout::Real;
use crate::{Error, Result};
use std::ops::RangeBounds;

impl<T: Real> Multivectors<T> {
    /// The same multivectors, in row-major order, at positions of another shape; a view.
    ///
    /// The gradient is `reshape` to the operand's positions.
    /// # Errors
    /// As [`Tensor::reshape`](crate::Tensor::reshape).
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::clifford::{BladeAxis, Multivectors, Signature};
    ///
    /// let vectors = gpu.zeros::<f32>([6, 3])?;
    /// let x = Multivectors::new(vectors, &Signature::CL3.vectors(), BladeAxis::Last)?;
    /// assert_eq!(x.reshape([2, 3])?.tensor().shape(), [2, 3, 3]);
    /// assert_eq!(x.slice(0, 4..)?.positions(), [2]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn reshape(&self, positions: impl AsRef<[usize]>) -> Result<Self> {
        call("reshape", || {
            let mut shape = positions.as_ref().to_vec();
            shape.insert(self.axis().of(shape.len() + 1), self.blades().len());
            Self::new(self.tensor().reshape(shape)?, self.blades(), self.axis())
        })
    }

    /// The multivectors whose index is in `range` along an axis of the positions; a view.
    ///
    /// # Errors
    /// [`Error::Shape`] if the positions have no such axis, or the range exceeds it.
    pub fn slice(&self, axis: usize, range: impl RangeBounds<usize>) -> Result<Self> {
        call("slice", || {
            let positions = self.positions();
            if axis >= positions.len() {
                return Err(Error::shapes("slice", "the positions have no such axis", &positions, &[axis]));
            }
            let at = axis + usize::from(self.axis() == BladeAxis::First);
            Self::new(self.tensor().slice(at, range)?, self.blades(), self.axis())
        })
    }
}

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
