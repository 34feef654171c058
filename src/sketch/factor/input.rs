//! The matrix to be factored: checked, and scaled so that squares neither overflow nor underflow.

use super::device::{largest, norm};
use crate::tensor::Tensor;
use crate::{Error, Result, ops};

/// A copy of a matrix, scaled by a power of two so that the largest magnitude is at least 1 and below 4, or all entries
/// are 0.
pub(in crate::sketch) struct ScaledMatrix {
    pub(in crate::sketch) a: Tensor<f32>,
    /// The factor that scales the copy back to the matrix.
    pub(in crate::sketch) scale: f64,
}

impl ScaledMatrix {
    pub(in crate::sketch) fn new(op: &'static str, a: &Tensor<f32>) -> Result<Self> {
        Self::named(op, "the matrix", a)
    }

    /// [`new`](Self::new) for an operand that errors call `name`.
    pub(in crate::sketch) fn named(op: &'static str, name: &str, a: &Tensor<f32>) -> Result<Self> {
        shape(op, a)?;
        let a = &a.contiguous()?;
        let largest = largest(op, name, a)?;
        if largest < f32::MIN_POSITIVE {
            // A device may flush smaller numbers to 0, so all of them count as 0.
            return Ok(Self { a: a.gpu().zeros(a.shape())?, scale: 1.0 });
        }
        // NOTE: the factor must be a normal number, and 2^-127 is not.
        let exponent = ((largest.to_bits() >> 23).cast_signed() - 127).min(126);
        let factor = a.gpu().tensor(&[f32::powi(2.0, -exponent)], [])?;
        Ok(Self { a: ops::mul(a, &factor)?, scale: f64::powi(2.0, exponent) })
    }

    /// The Frobenius norm of the copy.
    pub(in crate::sketch) fn norm(&self) -> Result<f64> {
        norm(&self.a)
    }
}

/// The rows and columns of a matrix. There must be at least one of each.
pub(in crate::sketch) fn shape(op: &'static str, a: &Tensor<f32>) -> Result<[usize; 2]> {
    match *a.shape() {
        [rows, cols] if rows > 0 && cols > 0 => Ok([rows, cols]),
        _ => Err(Error::shape(op, "the operand must be a matrix with rows and columns", a.shape())),
    }
}

/// Checks that a relative tolerance lies between 0 and 1.
pub(in crate::sketch) fn tolerance(what: &str, relative: f64) -> Result<()> {
    if relative > 0.0 && relative < 1.0 {
        return Ok(());
    }
    Err(Error::input(what, format!("must be between 0 and 1; got {relative}")))
}
