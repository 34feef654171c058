//! Systems of linear equations.

use super::matrix_batch::{MatrixBatch, append};
use crate::error::call;
use crate::layout::Real;
use crate::sketch::factor::host::power;
use crate::tensor::Tensor;
use crate::{Error, Result};
use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef};

const OP: &str = "solve";

/// Solves $A x = b$ for a square matrix, or for each matrix of a batch, by a QR factorisation with column pivoting. It waits
/// for the device. For large or rectangular matrices use [`lstsq`](super::super::lstsq).
///
/// # Shapes
/// `a` (.., n, n) with n up to 1024, and `b` (.., n, c) or (.., n), of the same batch -> x in the shape of `b`. Any strides.
/// # Errors
/// [`Error::Shape`] for other shapes; [`Error::Gpu`] if the operands are on different devices; [`Error::Limit`] for more rows;
/// [`Error::Input`] if an entry is NaN or infinite, or a matrix is singular: once its rows and columns are scaled, a
/// pivot is at most $n 2^{-52}$ of the first one; [`Error::OutOfMemory`]; [`Error::Cancelled`] in [`with_progress`](crate::with_progress).
/// # Precision
/// The solution is computed in f64 and rounded once to the type. If x is measured in units of the scaled columns, its relative error
/// in f64 is at most about $2^{-50} n$ times the condition number of A with its rows and columns scaled. What exceeds the type becomes
/// infinite.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let a = gpu.tensor(&[2.0f32, 1.0, 1.0, 3.0], [2, 2])?;
/// let b = gpu.tensor(&[3.0f32, 5.0], [2])?;
/// assert_eq!(tilewise::sketch::solve(&a, &b)?.to_vec()?, [0.8, 1.4]);
/// # Ok(())
/// # }
/// ```
pub fn solve<T: Real>(a: &Tensor<T>, b: &Tensor<T>) -> Result<Tensor<T>> {
    call(OP, || {
        let gpu = a.same_gpu(OP, b)?;
        let [batch @ .., n, _] = a.shape() else {
            return Err(Error::shape(
                OP,
                "the operand must be a square matrix, or a batch of them",
                a.shape(),
            ));
        };
        let columns = match b.shape() {
            shape if shape == &a.shape()[..=batch.len()] => 1,
            [of_b @ .., rows, columns] if of_b == batch && rows == n => *columns,
            _ => {
                let rule = "the right-hand side must have the batch and the rows of the matrix";
                return Err(Error::shapes(OP, rule, a.shape(), b.shape()));
            }
        };
        let matrices = MatrixBatch::square(OP, a)?;
        let sides = MatrixBatch::of(OP, "right-hand side", b, batch, [*n, columns])?;
        let mut solved = Vec::with_capacity(b.len());
        if b.is_empty() {
            return gpu.empty(b.shape());
        }
        matrices.each(|at| {
            let x = of_one(matrices.get(at), sides.get(at)).map_err(|(pivot, found)| {
                let why =
                    format!("it is singular: pivot {pivot} of its scaled rows and columns is {found:e}");
                matrices.error(at, why)
            })?;
            append(&mut solved, x.as_ref());
            Ok(())
        })?;
        gpu.tensor(&solved, b.shape())
    })
}

/// The solution for one matrix, or the pivot that is too small, and its value.
fn of_one(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Result<Mat<f64>, (usize, f64)> {
    let n = a.nrows();
    let rows: Vec<f64> = (0..n).map(|i| power(a.row(i).norm_max())).collect();
    let column = |j: usize| (0..n).map(|i| (a[(i, j)] * rows[i]).abs()).fold(0.0, f64::max);
    let columns: Vec<f64> = (0..n).map(|j| power(column(j))).collect();
    let qr = Mat::from_fn(n, n, |i, j| a[(i, j)] * rows[i] * columns[j]).col_piv_qr();
    let pivot = |k: usize| qr.R()[(k, k)].abs();
    let least = n as f64 * f64::EPSILON * pivot(0);
    if let Some(k) = (0..n).find(|&k| pivot(k) <= least || !pivot(k).is_finite()) {
        return Err((k, pivot(k)));
    }
    let x = qr.solve(Mat::from_fn(n, b.ncols(), |i, j| b[(i, j)] * rows[i]));
    Ok(Mat::from_fn(n, b.ncols(), |i, j| x[(i, j)] * columns[i]))
}
