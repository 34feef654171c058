//! Factorisations on the CPU, in f64, by `faer`: panels and small matrices.

use crate::layout::Element;
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result};
use faer::linalg::cholesky::llt::factor::LltError;
use faer::linalg::evd::EvdError;
use faer::linalg::solvers::ColPivQr;
use faer::{Mat, MatRef, Side};

/// Largest computed value of an eigenvalue that is 0, relative to the largest eigenvalue.
const ROUNDING: f64 = 1e-11;

/// Reads a matrix from the device as f64. It waits until the matrix has been computed.
pub(in crate::sketch) fn download(a: &Tensor<f32>) -> Result<Mat<f64>> {
    let &[rows, cols] = a.shape() else {
        return Err(Error::shape("read", "a matrix has two axes", a.shape()));
    };
    let values = a.to_vec()?;
    Ok(Mat::from_fn(rows, cols, |i, j| f64::from(values[i * cols + j])))
}

/// Uploads a matrix, rounded to f32.
pub(in crate::sketch) fn upload(gpu: &Gpu, a: MatRef<'_, f64>) -> Result<Tensor<f32>> {
    let (rows, cols) = a.shape();
    let mut values = Vec::with_capacity(rows * cols);
    for i in 0..rows {
        values.extend((0..cols).map(|j| f32::from_f64(a[(i, j)])));
    }
    gpu.tensor(&values, [rows, cols])
}

/// The largest condition of columns that are made orthonormal by their Gram matrix: its square times the rounding of f64 is then
/// $2^{-29}$, less than the rounding of a column to f32.
const WELL_CONDITIONED: f64 = (1 << 12) as f64;

/// Q and R of a panel with no more columns than rows. They are computed from its Gram matrix, which takes a third of the work,
/// if the error is invisible in f32; otherwise by reflections.
pub(super) fn qr(panel: MatRef<'_, f64>) -> (Mat<f64>, Mat<f64>) {
    match triangle_of_gram(panel) {
        Some([r, inverse]) => (panel * inverse, r),
        None => {
            let qr = panel.qr();
            (qr.compute_thin_Q(), qr.thin_R().to_owned())
        }
    }
}

/// R of a panel with no more columns than rows.
pub(super) fn triangle(panel: MatRef<'_, f64>) -> Mat<f64> {
    triangle_of_gram(panel).map_or_else(|| panel.qr().thin_R().to_owned(), |[r, _]| r)
}

/// R and its inverse, if the columns of the panel are well-conditioned.
fn triangle_of_gram(panel: MatRef<'_, f64>) -> Option<[Mat<f64>; 2]> {
    let gram = panel.transpose() * panel;
    let factor = gram.llt(Side::Lower).ok()?;
    let r = factor.L().transpose().to_owned();
    let inverse = inverse_of_upper(r.as_ref());
    // At least the condition in the spectral norm. It is NaN or infinite if a pivot is 0.
    (r.norm_l2() * inverse.norm_l2() <= WELL_CONDITIONED).then_some([r, inverse])
}

/// A QR factorisation with column pivoting, $AP = QR$.
pub(super) struct Pivoted {
    factors: ColPivQr<f64>,
    pub(super) r: Mat<f64>,
    /// Column j of AP is column `pivots[j]` of A.
    pub(super) pivots: Vec<usize>,
    /// The units in which the columns of AP are measured.
    pub(super) units: Vec<f64>,
}

/// The next pivot is the column with the longest rest.
pub(super) fn pivoted_qr(a: MatRef<'_, f64>) -> Pivoted {
    let factors = a.col_piv_qr();
    let pivots = factors.P().arrays().0.to_vec();
    Pivoted { r: factors.thin_R().to_owned(), units: vec![1.0; pivots.len()], pivots, factors }
}

/// The next pivot is the column with the longest rest relative to its own length. So no pivot and no rank depends on
/// the units of the columns.
pub(super) fn pivoted_qr_of_units(a: MatRef<'_, f64>) -> Pivoted {
    let units = lengths(a);
    let scaled = Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] / units[j]);
    let Pivoted { factors, r, pivots, .. } = pivoted_qr(scaled.as_ref());
    let units: Vec<f64> = pivots.iter().map(|&pivot| units[pivot]).collect();
    let r = Mat::from_fn(r.nrows(), r.ncols(), |i, j| r[(i, j)] * units[j]);
    Pivoted { factors, r, pivots, units }
}

/// The norms of the columns; 1 for a column of zeros. A device may flush numbers below the smallest normal one to 0, so a column
/// whose norm is below that counts as one of zeros. One over a norm is finite in f32.
pub(super) fn lengths(a: MatRef<'_, f64>) -> Vec<f64> {
    let length = |j: usize| a.col(j).norm_l2();
    let is_normal = |length: f64| length >= f64::from(f32::MIN_POSITIVE);
    (0..a.ncols()).map(length).map(|length| if is_normal(length) { length } else { 1.0 }).collect()
}

impl Pivoted {
    /// Q, with orthonormal columns.
    pub(super) fn q(&self) -> Mat<f64> {
        self.factors.compute_thin_Q()
    }

    /// The inverse of the leading block of R, with its rows permuted by the pivots. A times this matrix is the leading columns of
    /// Q. It has fewer columns than requested if further ones overflow f32, because columns are tiny compared with others.
    pub(super) fn inverse(&self, size: usize) -> Mat<f64> {
        let inverse = inverse_of_upper(self.r.get(..size, ..size));
        let is_finite = |&j: &usize| (0..=j).all(|i| inverse[(i, j)].abs() <= f64::from(f32::MAX));
        let size = (0..size).take_while(is_finite).count();
        let inverse = inverse.get(..size, ..size);
        let mut scattered = Mat::zeros(self.pivots.len(), size);
        for (row, &pivot) in self.pivots[..size].iter().enumerate() {
            scattered.row_mut(pivot).copy_from(inverse.row(row));
        }
        scattered
    }

    /// The number of leading diagonal entries of R above the tolerance, relative to the first, in units of their
    /// columns.
    pub(super) fn rank(&self, tolerance: f64) -> usize {
        self.leading(tolerance * self.diagonal(0))
    }

    /// The number of leading diagonal entries of R above a threshold, in units of their columns.
    pub(super) fn leading(&self, threshold: f64) -> usize {
        (0..self.r.nrows()).take_while(|&i| self.diagonal(i) > threshold).count()
    }

    /// The magnitude of a diagonal entry of R, in units of its column.
    pub(super) fn diagonal(&self, i: usize) -> f64 {
        self.r[(i, i)].abs() / self.units[i]
    }

    /// The first rows of R, with its columns in the order of A.
    pub(super) fn unpermuted(&self, rows: usize) -> Mat<f64> {
        let mut r = Mat::zeros(rows, self.pivots.len());
        for (from, &to) in self.pivots.iter().enumerate() {
            r.col_mut(to).copy_from(self.r.get(..rows, from));
        }
        r
    }
}

/// A thin singular value decomposition $A = U \mathrm{diag}(s) V^T$.
pub(super) struct SmallSvd {
    pub(super) u: Mat<f64>,
    pub(super) s: Vec<f64>,
    pub(super) v: Mat<f64>,
}

pub(super) fn svd(a: MatRef<'_, f64>) -> Result<SmallSvd> {
    let svd = a.thin_svd().map_err(|error| Error::input("svd", format!("did not converge: {error:?}")))?;
    let s = svd.S().column_vector().iter().copied().collect();
    Ok(SmallSvd { u: svd.U().to_owned(), s, v: svd.V().to_owned() })
}

/// The power of two that brings a number to between 1 and 2. It rounds nothing.
#[expect(clippy::cast_possible_truncation, reason = "an exponent is small")]
pub(in crate::sketch) fn power(largest: f64) -> f64 {
    if largest > 0.0 { f64::powi(2.0, -(largest.log2().floor().clamp(-1000.0, 1000.0) as i32)) } else { 1.0 }
}

/// The eigenvalues of a symmetric matrix, the smallest first, and its eigenvectors as columns.
///
/// NOTE: faer 0.24 loses eigenvalues of tiny matrices of more than 128 rows (`findings/faer_eigenvalues_of_small_matrices.sh`), so the
/// matrix is scaled by a power of two.
pub(in crate::sketch) fn symmetric_eigen(a: &Mat<f64>) -> Result<(Vec<f64>, Mat<f64>), EvdError> {
    let scale = power(a.norm_max());
    let eigen =
        Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] * scale).self_adjoint_eigen(Side::Lower)?;
    let values = eigen.S().column_vector().iter().map(|value| value / scale).collect();
    Ok((values, eigen.U().to_owned()))
}

/// The eigenvectors of a symmetric matrix with the largest eigenvalues, the largest first.
pub(super) fn leading_eigenvectors(a: &Mat<f64>, count: usize) -> Result<Mat<f64>> {
    let (values, vectors) = symmetric_eigen(a)
        .map_err(|error| Error::input("eigenvalues", format!("did not converge: {error:?}")))?;
    let mut order: Vec<usize> = (0..a.ncols()).collect();
    order.sort_by(|&i, &j| values[j].total_cmp(&values[i]));
    Ok(Mat::from_fn(a.nrows(), count, |i, j| vectors[(i, order[j])]))
}

/// The pseudo-inverse of a Gram matrix. Eigenvalues that are only rounding errors of the largest count as 0.
pub(in crate::sketch) fn pseudo_inverse(gram: &Mat<f64>) -> Result<Mat<f64>> {
    let (values, vectors) = symmetric_eigen(gram)
        .map_err(|error| Error::input("eigenvalues", format!("did not converge: {error:?}")))?;
    let threshold = values.iter().fold(0.0f64, |largest, value| largest.max(value.abs())) * ROUNDING;
    let inverse = |i: usize| if values[i] > threshold { 1.0 / values[i] } else { 0.0 };
    let scaled = Mat::from_fn(gram.nrows(), gram.ncols(), |row, i| vectors[(row, i)] * inverse(i));
    Ok(scaled * vectors.transpose())
}

/// The lower Cholesky factor of the largest leading block of a Gram matrix whose pivots are above the tolerance,
/// relative to the largest diagonal entry.
pub(super) fn cholesky(gram: MatRef<'_, f64>, tolerance: f64) -> Mat<f64> {
    let largest = (0..gram.nrows()).map(|i| gram[(i, i)]).fold(0.0, f64::max);
    let mut size = gram.nrows();
    while size > 0 {
        match gram.get(..size, ..size).llt(Side::Lower) {
            Ok(factor) => {
                let l = factor.L();
                let leading = (0..size).take_while(|&i| l[(i, i)].powi(2) > tolerance * largest).count();
                return l.get(..leading, ..leading).to_owned();
            }
            // The pivots before this one are positive.
            Err(LltError::NonPositivePivot { index }) => size = index.min(size - 1),
        }
    }
    Mat::zeros(0, 0)
}

/// The inverse $R^{-1}$ of an upper triangle.
pub(super) fn inverse_of_upper(r: MatRef<'_, f64>) -> Mat<f64> {
    let mut inverse = Mat::identity(r.nrows(), r.ncols());
    r.solve_upper_triangular_in_place(inverse.as_mut());
    inverse
}

/// The inverse transpose $L^{-T}$ of a lower triangle.
pub(super) fn inverse_transpose_of_lower(l: MatRef<'_, f64>) -> Mat<f64> {
    inverse_of_upper(l.transpose())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A panel whose columns have about this condition.
    fn panel(condition: f64) -> Mat<f64> {
        let entry = |i: usize, j: usize| ((i * 7 + j * 13) % 31) as f64 - 15.0 + ((i * j) % 11) as f64;
        let first = |i: usize| entry(i, 0);
        Mat::from_fn(200, 6, |i, j| if j == 5 { first(i) + entry(i, 5) / condition } else { entry(i, j) })
    }

    #[test]
    fn columns_are_orthonormal_and_the_product_is_the_panel_whatever_the_condition() {
        for condition in [1.0, 1e2, 1e4, 1e8, 1e12] {
            for unit in [1e-40, 1.0, 1e38] {
                let a = panel(condition) * faer::Scale(unit);
                let (q, r) = qr(a.as_ref());
                let off = (q.transpose() * &q - Mat::<f64>::identity(6, 6)).norm_l2();
                assert!(off < 1e-8, "{condition:e} {unit:e}: {off:e}");
                assert!((&q * &r - &a).norm_l2() <= 1e-13 * a.norm_l2(), "{condition:e} {unit:e}");
                let gram_of_r = r.transpose() * &r;
                let only_r = triangle(a.as_ref());
                let gram = only_r.transpose() * &only_r;
                assert!((&gram - &gram_of_r).norm_l2() <= 1e-13 * gram.norm_l2(), "{condition:e} {unit:e}");
            }
        }
        assert!(triangle_of_gram(panel(1.0).as_ref()).is_some());
        assert!(triangle_of_gram(panel(1e8).as_ref()).is_none());
        assert!(triangle_of_gram(Mat::zeros(5, 2).as_ref()).is_none());
        assert_eq!(qr(Mat::zeros(5, 2).as_ref()).0.ncols(), 2);
    }
}
