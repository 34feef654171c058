//! The matrix that is factored: checked, and scaled so that squares neither overflow nor vanish.

use crate::tensor::Tensor;
use crate::{Error, Result, ops};

/// Columns of what is reduced, of a matrix and of one with so many elements: enough of them to have an invocation each.
const WIDE: usize = 4096;
const WIDER: usize = 65_536;
const LARGE: usize = 1 << 24;

/// A copy of a matrix, times a power of two: its largest entry is at least 1 and below 4, or all are 0.
pub(in crate::sketch) struct Input {
    pub(in crate::sketch) a: Tensor<f32>,
    /// What the copy is to be multiplied by to be the matrix.
    pub(in crate::sketch) scale: f64,
}

impl Input {
    pub(in crate::sketch) fn new(op: &'static str, a: &Tensor<f32>) -> Result<Self> {
        Self::named(op, "the matrix", a)
    }

    /// As [`new`](Self::new), of what is called so in errors.
    pub(in crate::sketch) fn named(op: &'static str, name: &str, a: &Tensor<f32>) -> Result<Self> {
        shape(op, a)?;
        let a = &a.contiguous()?;
        let largest = largest(op, name, a)?;
        if largest < f32::MIN_POSITIVE {
            // Below, a device may count numbers as 0, so they are.
            return Ok(Self { a: a.gpu().zeros(a.shape())?, scale: 1.0 });
        }
        // NOTE: 2^-127 is no normal number.
        let exponent = ((largest.to_bits() >> 23).cast_signed() - 127).min(126);
        let factor = a.gpu().tensor(&[f32::powi(2.0, -exponent)], [])?;
        Ok(Self { a: ops::mul(a, &factor)?, scale: f64::powi(2.0, exponent) })
    }

    /// The Frobenius norm of the copy.
    pub(in crate::sketch) fn norm(&self) -> Result<f64> {
        norm(&self.a)
    }
}

/// The rows and columns of a matrix; there must be some.
pub(in crate::sketch) fn shape(op: &'static str, a: &Tensor<f32>) -> Result<[usize; 2]> {
    match *a.shape() {
        [rows, cols] if rows > 0 && cols > 0 => Ok([rows, cols]),
        _ => Err(Error::shape(op, "the operand must be a matrix with rows and columns", a.shape())),
    }
}

/// Checks that a tolerance is relative, and lets something pass.
pub(in crate::sketch) fn tolerance(what: &str, relative: f64) -> Result<()> {
    if relative > 0.0 && relative < 1.0 {
        return Ok(());
    }
    Err(Error::input(what, format!("{relative} is not between 0 and 1")))
}

/// The largest magnitude of a matrix without gaps, all of whose entries must be finite.
pub(in crate::sketch) fn largest(op: &'static str, name: &str, a: &Tensor<f32>) -> Result<f32> {
    let mut largest = 0.0f32;
    for part in parts(a)? {
        let found = ops::max_abs(&part, 0)?.to_vec()?;
        if let Some(col) = found.iter().position(|x| !x.is_finite()) {
            let values = part.slice(1, col..=col)?.to_vec()?;
            let row = values.iter().position(|x| !x.is_finite()).unwrap_or(0);
            let at = part.layout().offset() - a.layout().offset() + row * part.shape()[1] + col;
            let (i, j) = (at / a.shape()[1], at % a.shape()[1]);
            let why = format!("it is {} at [{i}, {j}]", values[row]);
            return Err(Error::input(format!("{op}: {name}"), why));
        }
        largest = found.into_iter().fold(largest, f32::max);
    }
    Ok(largest)
}

/// The Frobenius norm of a matrix without gaps: columns of its parts summed on the device, their sums in f64.
pub(in crate::sketch) fn norm(a: &Tensor<f32>) -> Result<f64> {
    let mut square = 0.0;
    for part in parts(a)? {
        square += ops::sum_squares(&part, 0)?.to_vec()?.into_iter().map(f64::from).sum::<f64>();
    }
    Ok(square.sqrt())
}

/// The elements of a matrix without gaps, as a wide matrix and a row: what is reduced along columns that many keeps
/// every invocation busy without waiting for another, whatever the shape was.
fn parts(a: &Tensor<f32>) -> Result<Vec<Tensor<f32>>> {
    let (len, offset) = (a.len(), a.layout().offset());
    let wide = if len < LARGE { WIDE } else { WIDER };
    let [rows, rest] = [len / wide, len % wide];
    let mut parts = Vec::new();
    if rows > 0 {
        parts.push(a.as_strided(&[rows, wide], &[wide, 1], offset)?);
    }
    if rest > 0 {
        parts.push(a.as_strided(&[1, rest], &[rest, 1], offset + rows * wide)?);
    }
    Ok(parts)
}
