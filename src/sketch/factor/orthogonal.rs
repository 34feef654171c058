//! Orthonormal columns: orthogonalisation against existing blocks, and measures of orthogonality.

use super::device::{matmul, product};
use super::host;
use super::timings::{TimedPart, Timings};
use crate::gemm::SplitK;
use crate::sketch::operator::{Sketch, SketchKind};
use crate::tensor::Tensor;
use crate::{Error, Result};
use faer::Mat;

/// A column of norm 1 counts as lying in the span of the columns before it if the part outside is smaller than this.
const MIN_INDEPENDENT: f64 = 1e-4;
/// Largest number of orthogonalisations against earlier columns. Two are enough for independent columns. Columns that
/// are only rounding errors take more, because each orthogonalisation leaves errors that are large relative to the rest
/// of the column.
const MAX_ATTEMPTS: u64 = 16;
/// Largest product of two columns that counts as a rounding error.
const ROUNDING: f64 = 1.0 / (1 << 22) as f64;
/// Rows of each split of a Gram matrix. Rounding errors grow with them.
const ROWS_PER_SPLIT: usize = 256;
/// Largest number of splits of a Gram matrix.
const MAX_SPLITS: u32 = 64;

/// $Q^TQ$, as a split-k product.
pub(super) fn gram(q: &Tensor<f32>) -> Result<Mat<f64>> {
    let splits = u32::try_from(q.shape()[0].div_ceil(ROWS_PER_SPLIT)).unwrap_or(u32::MAX).min(MAX_SPLITS);
    host::download(&product(&q.t(), q).split_k(SplitK::Splits(splits)).run()?)
}

/// Orthogonalises orthonormal columns against earlier blocks, until their products are rounding errors.
///
/// # Errors
/// [`Error::Input`] if the columns are not orthogonal after the last attempt.
pub(super) fn orthogonalise(
    op: &str,
    mut q: Tensor<f32>,
    earlier: &[Tensor<f32>],
    seed: u64,
    timings: &mut Timings,
) -> Result<Tensor<f32>> {
    let held: usize = earlier.iter().map(|block| block.shape()[1]).sum();
    let columns = q.shape()[1];
    let allowed = ROUNDING * ((columns * columns.max(held)) as f64).sqrt();
    let (mut replaced, mut shared) = (0, 0.0);
    for attempt in 0..MAX_ATTEMPTS {
        // The products are shares of columns of norm 1. Subtracting them leaves smaller columns.
        shared = timings.measure(TimedPart::Products, || {
            let mut square = 0.0;
            for block in earlier {
                let share = matmul(&block.t(), &q)?;
                product(block, &share).alpha(-1.0).beta(1.0).run_into(&mut q)?;
                square += host::download(&share)?.norm_l2().powi(2);
            }
            Ok(f64::sqrt(square))
        })?;
        if replaced == 0 && shared <= allowed {
            return Ok(q);
        }
        let panel = timings.measure(TimedPart::Products, || host::download(&q))?;
        q = timings.measure(TimedPart::Small, || {
            let (mut columns, r) = host::qr(panel.as_ref());
            // A column in the span of the earlier blocks leaves only a rounding error, which may lie in that span
            // again. A random column replaces it.
            let lost: Vec<usize> = (0..r.ncols()).filter(|&j| r[(j, j)].abs() < MIN_INDEPENDENT).collect();
            replaced = lost.len();
            replace(&mut columns, &lost, seed.wrapping_add(attempt))?;
            host::upload(q.gpu(), columns.as_ref())
        })?;
    }
    let why = format!(
        "has columns that cannot be made orthogonal in f32: after {MAX_ATTEMPTS} attempts a block of {columns} columns has \
         products of {shared:.1e} with the {held} before it, {allowed:.1e} at most. Ask for fewer columns, or set another \
         seed or block"
    );
    Err(Error::input(format!("{op}: the matrix"), why))
}

/// Replaces columns by random ones of norm about 1.
fn replace(panel: &mut Mat<f64>, lost: &[usize], seed: u64) -> Result<()> {
    if lost.is_empty() {
        return Ok(());
    }
    let rows = panel.nrows();
    let any = Sketch::new(SketchKind::Gaussian, [rows, lost.len()], seed)?.to_vec();
    for (at, &j) in lost.iter().enumerate() {
        (0..rows).for_each(|i| panel[(i, j)] = f64::from(any[i * lost.len() + at]));
    }
    Ok(())
}

/// Columns that were orthonormal before rounding. If their error (the Frobenius norm of $Q^TQ - I$) exceeds `allowed`,
/// they are orthonormalised again, the first ones with the least change.
pub(super) fn assured(q: Tensor<f32>, allowed: f64) -> Result<Tensor<f32>> {
    let gram = gram(&q)?;
    if (&gram - Mat::<f64>::identity(gram.nrows(), gram.ncols())).norm_l2() <= allowed {
        return Ok(q);
    }
    let (mut columns, r) = host::qr(host::download(&q)?.as_ref());
    for j in (0..r.ncols()).filter(|&j| r[(j, j)] < 0.0) {
        columns.col_mut(j).iter_mut().for_each(|x| *x = -*x);
    }
    host::upload(q.gpu(), columns.as_ref())
}
