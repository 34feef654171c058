//! Eigenvalues and eigenvectors of symmetric matrices.

use super::matrix_batch::{MatrixBatch, append};
use crate::Result;
use crate::error::call;
use crate::layout::Real;
use crate::sketch::factor::host::symmetric_eigen;
use crate::tensor::Tensor;

/// The eigenvalues and eigenvectors of symmetric matrices: $A = V \mathrm{diag}(\lambda) V^T$.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Eigen<T: Real> {
    /// The eigenvalues, the smallest first: (.., n).
    pub values: Tensor<T>,
    /// The eigenvectors, in the order of the values, as columns of length 1: (.., n, n). Their signs are not specified.
    pub vectors: Tensor<T>,
}

/// The eigenvalues and eigenvectors of a symmetric matrix, or of each matrix of a batch. It waits for the device.
///
/// # Shapes
/// `a` (.., n, n) with n up to 1024, any strides -> values (.., n), the smallest first, and vectors (.., n, n) as columns.
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) unless the matrices are square; [`Error::Limit`](crate::Error::Limit) for more rows;
/// [`Error::Input`](crate::Error::Input) if an entry is NaN or infinite, or if a matrix is not symmetric (entries may differ by eight
/// roundings of the largest one; their mean counts, in the bounds too); [`Error::OutOfMemory`](crate::Error::OutOfMemory);
/// [`Error::Cancelled`](crate::Error::Cancelled) in [`with_progress`](crate::with_progress).
/// # Precision
/// Both are computed in f64 and rounded once to the type. What exceeds the type becomes infinite. An
/// eigenvalue differs by at most about $2^{-50} n \lVert A \rVert$ and its
/// rounding. Vectors of values that lie as close to each other span the right space, but are not unique.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let a = gpu.tensor(&[2.0f32, 1.0, 1.0, 2.0], [2, 2])?;
/// let found = tilewise::sketch::eigh(&a)?;
/// assert_eq!(found.values.to_vec()?, [1.0, 3.0]);
/// # Ok(())
/// # }
/// ```
pub fn eigh<T: Real>(a: &Tensor<T>) -> Result<Eigen<T>> {
    const OP: &str = "eigh";
    call(OP, || {
        let matrices = MatrixBatch::square(OP, a)?;
        let (gpu, lines) = (a.gpu(), &a.shape()[..a.shape().len() - 1]);
        if a.is_empty() {
            return Ok(Eigen { values: gpu.empty(lines)?, vectors: gpu.empty(a.shape())? });
        }
        let (mut values, mut vectors) = (Vec::new(), Vec::with_capacity(a.len()));
        matrices.each(|at| {
            let largest = matrices.get(at).norm_max();
            let (found, columns) = symmetric_eigen(&matrices.symmetric(at, |_, _| largest)?)
                .map_err(|error| matrices.error(at, format!("it did not converge: {error:?}")))?;
            values.extend(found.into_iter().map(T::from_f64));
            append(&mut vectors, columns.as_ref());
            Ok(())
        })?;
        Ok(Eigen { values: gpu.tensor(&values, lines)?, vectors: gpu.tensor(&vectors, a.shape())? })
    })
}
