//! QR factorisations of tall matrices, with column pivoting.

use super::device::{matmul, norm, product};
use super::host::{self, Pivoted};
use super::input::{self, ScaledMatrix};
use super::orthogonal::gram;
use crate::error::call;
use crate::layout::Element;
use crate::progress::Steps;
use crate::sketch::apply::ExplicitSketch;
use crate::sketch::operator::{Sketch, SketchKind};
use crate::tensor::Tensor;
use crate::{Error, Result, ops};
use faer::{Mat, MatRef};

const OP: &str = "cqrrpt";

/// Nonzeros per column of the sketch.
const NONZEROS: usize = 4;
/// Rows of the sketch in addition to gamma times the columns. Without them, the sketch of a few columns would distort
/// too much.
const EXTRA_ROWS: usize = 16;
/// Smallest pivot of a Gram matrix of unit columns. A smaller one is a rounding error, or the sketch has lost a column.
const MIN_PIVOT: f64 = 1.0 / (1 << 16) as f64;
/// Largest ratio of diagonal entries of R for which the product with its inverse is exact enough. Above it, the product
/// is refined.
const MAX_UNREFINED: f64 = 64.0;
/// Largest relative residual of a rank. If it is larger, the sketch has lost a part of the matrix.
const MAX_RESIDUAL: f64 = 1e-5;

/// QR factorisation with column pivoting, $AP \approx QR$, by Cholesky QR with a sketch as preconditioner. [`Cqrrpt`]
/// has the options.
///
/// # Shapes
/// `a` (m, n) -> Q (m, r), R (r, n) with the numerical rank r, and n pivots.
/// # Errors
/// As for [`Cqrrpt::run`].
/// # Precision
/// As for [`Cqrrpt`].
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::{Fill, sketch};
///
/// let a = gpu.random::<f32>([500, 20], Fill::Uniform, 1)?;
/// let qr = sketch::cqrrpt(&a)?;
/// assert_eq!((qr.rank, qr.q.shape(), qr.r.shape()), (20, &[500, 20][..], &[20, 20][..]));
/// # Ok(())
/// # }
/// ```
pub fn cqrrpt(a: &Tensor<f32>) -> Result<PivotedQr> {
    Cqrrpt::new(a).run()
}

/// A QR factorisation with column pivoting: column j of QR is column `pivots[j]` of A.
#[derive(Clone, Debug)]
pub struct PivotedQr {
    /// Q (m, r): orthonormal columns.
    pub q: Tensor<f32>,
    /// R (r, n): an upper trapezoid. Its diagonal does not increase, up to the distortion of the sketch. If the columns
    /// were divided by their norms for the rank, this holds for the diagonal relative to these norms.
    pub r: Tensor<f32>,
    /// The order of the columns: a permutation of 0..n.
    pub pivots: Vec<usize>,
    /// Numerical rank r: the number of columns of Q.
    pub rank: usize,
}

/// An operator that the caller supplies.
#[derive(Clone, Copy, Debug)]
enum SuppliedOperator<'a> {
    Random(Sketch),
    Explicit(&'a ExplicitSketch<f32>),
}

/// A QR factorisation with column pivoting, with options. Call [`run`](Self::run) to compute it.
///
/// The method is that of Melnichenko, Balabanov, Murray, Demmel, Mahoney and Luszczek (2023). First a sketch SA is
/// factored on the CPU in f64, which gives pivots and a triangle. $A$ times the inverse of the triangle has nearly
/// orthonormal columns. Then Cholesky QR is applied to it twice. Products and Gram matrices run on the device.
///
/// # Precision
/// $\\|AP - QR\\|\_F \le 10^{-5} \\|A\\|\_F$ and $\\|Q^TQ - I\\|\_F \le 10^{-5}$, tested up to 100 columns, at any scale. The
/// rank is the number of diagonal entries of the sketch's triangle above the tolerance, relative to its largest entry, so it
/// does not depend on the scale either. If some are not above it, the columns are divided by their norms before the rank is
/// determined. So the rank does not depend on the units of the columns: 1 and $10^6 i$ are two columns.
#[derive(Clone, Debug)]
#[must_use = "nothing is computed before `run`"]
pub struct Cqrrpt<'a> {
    a: &'a Tensor<f32>,
    gamma: f64,
    seed: u64,
    operator: Option<SuppliedOperator<'a>>,
    tolerance: f64,
}

impl<'a> Cqrrpt<'a> {
    /// A factorisation of `a`. It pays off if `a` is tall: m much larger than n.
    pub fn new(a: &'a Tensor<f32>) -> Self {
        Self { a, gamma: 1.25, seed: 0, operator: None, tolerance: 1e-6 }
    }

    /// Rows of the sketch per column of A, 1.25 by default; 16 rows are added. If these are too few, they are doubled
    /// until the sketch is A itself. They are too few if the residual of the rank is more than a rounding error, or a
    /// Gram matrix is not positive.
    pub fn gamma(self, rows_per_column: f64) -> Self {
        Self { gamma: rows_per_column, ..self }
    }

    /// The seed of the sketch, 0 by default.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Uses this operator for the sketch, and does not enlarge it. It must have as many columns as A has rows.
    pub fn operator(self, operator: Sketch) -> Self {
        Self { operator: Some(SuppliedOperator::Random(operator)), ..self }
    }

    /// Like [`operator`](Self::operator), with an explicit matrix.
    pub fn explicit(self, operator: &'a ExplicitSketch<f32>) -> Self {
        Self { operator: Some(SuppliedOperator::Explicit(operator)), ..self }
    }

    /// The relative tolerance of the rank, $10^{-6}$ by default, about the rounding error of an f32 matrix. Diagonal
    /// entries of the sketch's triangle count if they are larger than this times the first. The rank is the larger of
    /// two: that of the given columns, and that of columns of norm 1.
    pub fn tolerance(self, relative: f64) -> Self {
        Self { tolerance: relative, ..self }
    }

    /// Computes the factorisation.
    ///
    /// # Shapes
    /// A (m, n) -> Q (m, r), R (r, n), n pivots. The rank r is at most m and n, and 0 for a matrix of zeros.
    /// # Errors
    /// [`Error::Shape`] if A is not a matrix with rows and columns, or if the operator does not have as many columns as
    /// A has rows; [`Error::Input`] if an entry is NaN or infinite, with its index, if gamma is below 1 or not finite,
    /// or if the tolerance is not between 0 and 1; [`Error::Limit`] or [`Error::OutOfMemory`] if a buffer does not fit;
    /// [`Error::Cancelled`] in [`with_progress`](crate::with_progress).
    pub fn run(&self) -> Result<PivotedQr> {
        call("cqrrpt", || {
            let [m, n] = input::shape(OP, self.a)?;
            if !(self.gamma >= 1.0 && self.gamma.is_finite()) {
                let why = format!(
                    "must be at least 1 row of the sketch per column, and finite; got {}",
                    self.gamma
                );
                return Err(Error::input("cqrrpt: gamma", why));
            }
            input::tolerance("cqrrpt: the tolerance", self.tolerance)?;
            let steps = Steps::of(OP, 5);
            steps.at(0, "checking the matrix")?;
            let input = ScaledMatrix::new(OP, self.a)?;
            steps.at(1, "the sketch")?;
            if let Some(operator) = &self.operator {
                let sketch = match operator {
                    SuppliedOperator::Random(operator) => operator.left(&input.a)?,
                    SuppliedOperator::Explicit(operator) => operator.left(&input.a)?,
                };
                let sketch = host::download(&sketch)?;
                let (qr, _) = self.core(&input, sketch.as_ref(), &steps)?;
                steps.end()?;
                return Ok(qr);
            }
            let mut rows = rows_of_sketch(self.gamma, n) + EXTRA_ROWS;
            loop {
                let sketch = sketch_of(&input.a, rows, NONZEROS, self.seed)?;
                let (qr, quality) = self.core(&input, sketch.as_ref(), &steps)?;
                if rows >= m || quality == SketchQuality::Sufficient {
                    steps.end()?;
                    return Ok(qr);
                }
                // The parts are counted once.
                steps.at(1, "a larger sketch")?;
                rows *= 2;
            }
        })
    }

    /// The factorisation from a sketch of A, and whether the sketch was good enough.
    fn core(
        &self,
        input: &ScaledMatrix,
        sketch: MatRef<'_, f64>,
        steps: &Steps,
    ) -> Result<(PivotedQr, SketchQuality)> {
        let a = &input.a;
        let (gpu, [m, n]) = (a.gpu(), input::shape(OP, a)?);
        steps.at(2, "the triangle of the sketch")?;
        let (sketched, found) = pivoted(sketch, self.tolerance);
        let inverse = sketched.inverse(found);
        let found = inverse.ncols();
        steps.at(3, "orthonormal columns")?;
        let factored = factor(a, &sketched, &inverse)?;
        steps.at(4, "the rank")?;
        let Pivoted { pivots, units, .. } = sketched;
        let Some((q, triangle)) = factored else {
            let (q, r) = (gpu.empty([m, 0])?, gpu.empty([0, n])?);
            let quality =
                if input.norm()? == 0.0 { SketchQuality::Sufficient } else { SketchQuality::Insufficient };
            return Ok((PivotedQr { q, r, pivots, rank: 0 }, quality));
        };
        let rank = triangle.nrows();
        let quality = if rank == m.min(n) {
            SketchQuality::Sufficient
        } else if rank < found {
            SketchQuality::Insufficient
        } else {
            // A rank below the full one is checked against the matrix.
            let mut rest = permuted(a, &pivots)?;
            let r = host::upload(gpu, triangle.as_ref())?;
            let units: Vec<f32> = units.iter().map(|unit| Element::from_f64(1.0 / unit)).collect();
            let units = gpu.tensor(&units, [n])?;
            let whole = norm(&ops::mul(&rest, &units)?)?;
            product(&q, &r).alpha(-1.0).beta(1.0).run_into(&mut rest)?;
            // The tolerance leaves out a part of each column, which is not the fault of the sketch.
            let left_out = 2.0 * self.tolerance * ((n - rank) as f64).sqrt();
            if norm(&ops::mul(&rest, &units)?)? <= MAX_RESIDUAL.max(left_out) * whole {
                SketchQuality::Sufficient
            } else {
                SketchQuality::Insufficient
            }
        };
        let r = host::upload(gpu, (triangle * input.scale).as_ref())?;
        Ok((PivotedQr { q, r, pivots, rank }, quality))
    }
}

/// Whether a sketch preserves the range of the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SketchQuality {
    Sufficient,
    Insufficient,
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is a size, rounded up")]
fn rows_of_sketch(gamma: f64, n: usize) -> usize {
    (gamma * n as f64).ceil() as usize
}

/// The factored sketch and its rank. If columns seem dependent, they are compared with their own lengths: small columns
/// may have other units than large ones, instead of being rounding errors.
fn pivoted(sketch: MatRef<'_, f64>, tolerance: f64) -> (Pivoted, usize) {
    let plain = host::pivoted_qr(sketch);
    let rank = plain.rank(tolerance);
    if rank == sketch.nrows().min(sketch.ncols()) {
        return (plain, rank);
    }
    let of_units = host::pivoted_qr_of_units(sketch);
    let rank_of_units = of_units.rank(tolerance);
    if rank_of_units > rank { (of_units, rank_of_units) } else { (plain, rank) }
}

/// A sketch with this number of rows, or the matrix itself if it has no more rows.
pub(super) fn sketch_of(a: &Tensor<f32>, rows: usize, nonzeros: usize, seed: u64) -> Result<Mat<f64>> {
    let m = a.shape()[0];
    if rows >= m {
        return host::download(a);
    }
    let kind = SketchKind::Sjlt { nonzeros: nonzeros.min(rows) };
    host::download(&Sketch::new(kind, [rows, m], seed)?.left(a)?)
}

/// The columns of A in the order of the pivots: a product with columns of the identity.
fn permuted(a: &Tensor<f32>, pivots: &[usize]) -> Result<Tensor<f32>> {
    let mut order = Mat::zeros(a.shape()[1], pivots.len());
    for (at, &pivot) in pivots.iter().enumerate() {
        order[(pivot, at)] = 1.0;
    }
    matmul(a, &host::upload(a.gpu(), order.as_ref())?)
}

/// Q and R of the first pivot columns, as many as `inverse` has, preconditioned by the factored sketch: `inverse` is that of its
/// leading block. None if no column is left.
fn factor(
    a: &Tensor<f32>,
    sketched: &Pivoted,
    inverse: &Mat<f64>,
) -> Result<Option<(Tensor<f32>, Mat<f64>)>> {
    let k = inverse.ncols();
    if k == 0 {
        return Ok(None);
    }
    let (gpu, head) = (a.gpu(), sketched.r.get(..k, ..k));
    let mut q = matmul(a, &host::upload(gpu, inverse.as_ref())?)?;
    if sketched.diagonal(0) > MAX_UNREFINED * sketched.diagonal(k - 1) {
        // One refinement: the rest of A is small, so its product with the inverse is exact enough.
        let mut rest = permuted(a, &sketched.pivots[..k])?;
        product(&q, &host::upload(gpu, head)?).alpha(-1.0).beta(1.0).run_into(&mut rest)?;
        let inverse = host::inverse_of_upper(head);
        product(&rest, &host::upload(gpu, inverse.as_ref())?).beta(1.0).run_into(&mut q)?;
    }
    let mut triangle = sketched.r.get(..k, ..).to_owned();
    // Cholesky QR, twice: the second time starts from columns that are orthonormal up to the rounding of the first.
    for _ in 0..2 {
        let l = host::cholesky(gram(&q)?.as_ref(), MIN_PIVOT);
        if l.nrows() == 0 {
            return Ok(None);
        }
        let columns = host::upload(gpu, host::inverse_transpose_of_lower(l.as_ref()).as_ref())?;
        q = matmul(&q.slice(1, ..l.nrows())?, &columns)?;
        triangle = l.transpose() * triangle.get(..l.nrows(), ..);
    }
    Ok(Some((q, triangle)))
}
