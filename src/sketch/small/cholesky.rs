//! Cholesky factors.

use super::matrix_batch::{MatrixBatch, append};
use crate::Result;
use crate::error::call;
use crate::layout::Real;
use crate::tensor::Tensor;
use faer::{Mat, Side};

/// The lower triangle L with $A = L L^T$ of a symmetric positive definite matrix, or of each matrix of a batch. It waits for the
/// device.
///
/// # Shapes
/// `a` (.., n, n) with n up to 1024, any strides -> L of the same shape, with zeros above its diagonal.
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) unless the matrices are square; [`Error::Limit`](crate::Error::Limit) for more rows;
/// [`Error::Input`](crate::Error::Input) if an entry is NaN or infinite, if a matrix is not symmetric (entries may differ by eight
/// roundings of $\sqrt{a_{ii} a_{jj}}$; their mean counts), or if it is not positive definite: a pivot is at most $n 2^{-52}$ of its
/// diagonal entry;
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory); [`Error::Cancelled`](crate::Error::Cancelled) in
/// [`with_progress`](crate::with_progress).
/// # Precision
/// L is computed in f64 and rounded once to the type: the entries of $L L^T - A$ are at most $(n + 1) 2^{-52}$, and two roundings of
/// the type, of $\sqrt{a_{ii} a_{jj}}$.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let a = gpu.tensor(&[4.0f32, 2.0, 2.0, 10.0], [2, 2])?;
/// assert_eq!(tilewise::sketch::cholesky(&a)?.to_vec()?, [2.0, 0.0, 1.0, 3.0]);
/// # Ok(())
/// # }
/// ```
pub fn cholesky<T: Real>(a: &Tensor<T>) -> Result<Tensor<T>> {
    const OP: &str = "cholesky";
    call(OP, || {
        let matrices = MatrixBatch::square(OP, a)?;
        if a.is_empty() {
            return a.gpu().empty(a.shape());
        }
        let mut factors = Vec::with_capacity(a.len());
        matrices.each(|at| {
            let of = matrices.get(at);
            let a = matrices.symmetric(at, |i, j| (of[(i, i)] * of[(j, j)]).abs().sqrt())?;
            let refused = |(pivot, found): (usize, f64)| {
                matrices.error(at, format!("it is not positive definite: its pivot {pivot} is {found:e}"))
            };
            let factor = a.llt(Side::Lower).map_err(|_| refused(not_positive(&a)))?;
            let l = factor.L();
            let pivot = |k: usize| l[(k, k)] * l[(k, k)];
            let least = l.nrows() as f64 * f64::EPSILON;
            if let Some(k) = (0..l.nrows()).find(|&k| pivot(k) <= least * a[(k, k)]) {
                return Err(refused((k, pivot(k))));
            }
            let lower = Mat::from_fn(l.nrows(), l.ncols(), |i, j| if j <= i { l[(i, j)] } else { 0.0 });
            append(&mut factors, lower.as_ref());
            Ok(())
        })?;
        a.gpu().tensor(&factors, a.shape())
    })
}

/// The first pivot that is not positive, and its value; the least one if rounding makes all positive here.
fn not_positive(a: &Mat<f64>) -> (usize, f64) {
    let n = a.nrows();
    let mut l = Mat::<f64>::zeros(n, n);
    let mut least = (0, f64::INFINITY);
    for k in 0..n {
        let pivot = a[(k, k)] - (0..k).map(|p| l[(k, p)] * l[(k, p)]).sum::<f64>();
        if pivot <= 0.0 {
            return (k, pivot);
        }
        if pivot < least.1 {
            least = (k, pivot);
        }
        l[(k, k)] = pivot.sqrt();
        for i in k + 1..n {
            l[(i, k)] = (a[(i, k)] - (0..k).map(|p| l[(i, p)] * l[(k, p)]).sum::<f64>()) / l[(k, k)];
        }
    }
    least
}
