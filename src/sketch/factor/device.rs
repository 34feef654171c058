//! The products and reductions of factorisations on the device.

use crate::tensor::Tensor;
use crate::{Error, Gemm, Precision, Result, ops};

/// For a reduction, elements are arranged as a matrix with this number of columns, for fewer than [`LARGE`] elements
/// and for more. There must be enough columns for one invocation each.
const WIDE: usize = 4096;
const WIDER: usize = 65_536;
const LARGE: usize = 1 << 24;

/// A product A B that takes further options. f32 operands are multiplied in f32, not in the device's default precision,
/// because factorisations promise error bounds.
pub(in crate::sketch) fn product<'a>(a: &'a Tensor<f32>, b: &'a Tensor<f32>) -> Gemm<'a, f32> {
    Gemm::new(a, b).precision(Precision::Strict)
}

/// The product A B.
pub(super) fn matmul(a: &Tensor<f32>, b: &Tensor<f32>) -> Result<Tensor<f32>> {
    product(a, b).run()
}

/// The largest magnitude in a contiguous matrix. All entries must be finite.
pub(in crate::sketch) fn largest(op: &'static str, name: &str, a: &Tensor<f32>) -> Result<f32> {
    let mut largest = 0.0f32;
    for part in parts(a)? {
        let found = ops::max_abs(&part, 0)?.to_vec()?;
        if let Some(col) = found.iter().position(|x| !x.is_finite()) {
            let values = part.slice(1, col..=col)?.to_vec()?;
            let row = values.iter().position(|x| !x.is_finite()).unwrap_or(0);
            let at = part.layout().offset() - a.layout().offset() + row * part.shape()[1] + col;
            let (i, j) = (at / a.shape()[1], at % a.shape()[1]);
            let why = format!("has the entry {} at [{i}, {j}]; all must be finite", values[row]);
            return Err(Error::input(format!("{op}: {name}"), why));
        }
        largest = found.into_iter().fold(largest, f32::max);
    }
    Ok(largest)
}

/// The Frobenius norm of a contiguous matrix. The device sums along columns, the host adds these sums in f64.
pub(in crate::sketch) fn norm(a: &Tensor<f32>) -> Result<f64> {
    let mut square = 0.0;
    for part in parts(a)? {
        square += ops::sum_squares(&part, 0)?.to_vec()?.into_iter().map(f64::from).sum::<f64>();
    }
    Ok(square.sqrt())
}

/// The elements of a contiguous matrix as a wide matrix and a row of the rest. A reduction along many columns keeps
/// every invocation busy and independent of the others, for matrices of any shape.
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
