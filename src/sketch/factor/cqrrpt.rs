//! QR factorisations with column pivoting, of tall matrices.

use super::input::{self, Input, norm};
use super::products::{matmul, product};
use super::small::{self, Pivoted};
use crate::error::call;
use crate::gemm::SplitK;
use crate::sketch::{Given, Sketch, SketchKind};
use crate::tensor::Tensor;
use crate::{Error, Result};
use faer::{Mat, MatRef};

const OP: &str = "cqrrpt";

/// Nonzeros of a column of the sketch.
const NONZEROS: usize = 4;
/// Rows of the sketch beyond the factor, without which one of few columns would distort too much.
const MORE_ROWS: usize = 16;
/// Pivots of a Gram matrix of unit columns below this are rounding, or of a sketch that lost a column.
const LEAST_PIVOT: f64 = 1.0 / (1 << 16) as f64;
/// Diagonal entries of R that differ by more than this make the product with its inverse inexact: it is refined.
const REFINED_FROM: f64 = 64.0;
/// Rows of a matrix that are summed in one go in a Gram matrix: rounding errors grow with them.
const ROWS_PER_PART: usize = 256;
const PARTS_AT_MOST: u32 = 64;
/// The relative residual that a rank may leave: more, and the sketch has lost something.
const RESIDUAL: f64 = 1e-5;

/// QR factorisation with column pivoting, $AP \approx QR$, by Cholesky QR preconditioned with a sketch. [`Cqrrpt`] has
/// the options.
///
/// # Shapes
/// `a` (m, n) -> Q (m, r), R (r, n) with the numerical rank r, n pivots.
/// # Errors
/// As [`Cqrrpt::run`].
/// # Precision
/// As [`Cqrrpt`].
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
    /// Orthonormal columns: (m, r).
    pub q: Tensor<f32>,
    /// An upper trapezoid whose diagonal does not grow, but for the distortion of the sketch: (r, n).
    pub r: Tensor<f32>,
    /// The order of the columns: a permutation of 0..n.
    pub pivots: Vec<usize>,
    /// The numerical rank r: columns of Q.
    pub rank: usize,
}

/// An operator of the caller's.
#[derive(Clone, Copy, Debug)]
enum Operator<'a> {
    Random(Sketch),
    Given(&'a Given<f32>),
}

/// How a QR factorisation with column pivoting is computed (Melnichenko, Balabanov, Murray, Demmel, Mahoney and
/// Luszczek, 2023): pivots and a triangle from a sketch SA, which is factored on the CPU in f64; $A$ times the inverse
/// of the triangle, whose columns are nearly orthonormal then; Cholesky QR of that, twice. Products and Gram matrices
/// are the device's.
///
/// # Precision
/// $\|AP - QR\|_F \le 10^{-5} \|A\|_F$ and $\|Q^TQ - I\|_F \le 10^{-5}$, tested up to 100 columns, at any scale. The rank
/// counts what the triangle of the sketch has above the tolerance, relative to its largest entry, so that it depends on
/// no scale either.
#[derive(Clone, Debug)]
#[must_use = "a factorisation is computed by `run`"]
pub struct Cqrrpt<'a> {
    a: &'a Tensor<f32>,
    gamma: f64,
    seed: u64,
    operator: Option<Operator<'a>>,
    tolerance: f64,
}

impl<'a> Cqrrpt<'a> {
    /// The factorisation of `a`, which is best tall: m much more than n.
    pub fn new(a: &'a Tensor<f32>) -> Self {
        Self { a, gamma: 1.25, seed: 0, operator: None, tolerance: 1e-6 }
    }

    /// Rows of the sketch for each column of A: 1.25 unless said otherwise, and 16 rows more. Where that proves too
    /// few, by a rank that leaves more of A than rounding or a Gram matrix that is not positive, it is doubled until
    /// the sketch is A.
    pub fn gamma(mut self, rows_per_column: f64) -> Self {
        self.gamma = rows_per_column;
        self
    }

    /// The seed of the sketch: 0 unless said otherwise.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sketches with this operator and no other: d rows, as many columns as A has rows.
    pub fn operator(mut self, operator: Sketch) -> Self {
        self.operator = Some(Operator::Random(operator));
        self
    }

    /// As [`operator`](Self::operator), of a matrix.
    pub fn given(mut self, operator: &'a Given<f32>) -> Self {
        self.operator = Some(Operator::Given(operator));
        self
    }

    /// What diagonal entries of the sketch's triangle must be above, relative to the first, to count: $10^{-6}$ unless
    /// said otherwise, about what rounding leaves of a matrix of f32.
    pub fn tolerance(mut self, relative: f64) -> Self {
        self.tolerance = relative;
        self
    }

    /// Computes the factorisation.
    ///
    /// # Shapes
    /// A (m, n) -> Q (m, r), R (r, n), n pivots; r is at most m and n, and 0 of a matrix of zeros.
    /// # Errors
    /// [`Error::Shape`] if A is no matrix with rows and columns, or the operator has not as many columns as A has rows;
    /// [`Error::Input`] if an entry is NaN or infinite, with its place, if gamma is not at least 1, or the tolerance
    /// not between 0 and 1; [`Error::Limit`], [`Error::OutOfMemory`] without room.
    pub fn run(&self) -> Result<PivotedQr> {
        call("cqrrpt", || {
            let [m, n] = input::shape(OP, self.a)?;
            if !(self.gamma >= 1.0 && self.gamma.is_finite()) {
                let why = format!("{} rows of the sketch for each column are too few, or none", self.gamma);
                return Err(Error::input("cqrrpt: gamma", why));
            }
            input::tolerance("cqrrpt: the tolerance", self.tolerance)?;
            let input = Input::new(OP, self.a)?;
            if let Some(operator) = &self.operator {
                let sketch = match operator {
                    Operator::Random(operator) => operator.left(&input.a)?,
                    Operator::Given(operator) => operator.left(&input.a)?,
                };
                let sketch = small::download(&sketch)?;
                return self.core(&input, sketch.as_ref()).map(|(qr, _)| qr);
            }
            let mut rows = rows_of_sketch(self.gamma, n) + MORE_ROWS;
            loop {
                let sketch = sketch_of(&input.a, rows, NONZEROS, self.seed)?;
                let (qr, sound) = self.core(&input, sketch.as_ref())?;
                if rows >= m || sound == Sound::Yes {
                    return Ok(qr);
                }
                rows *= 2;
            }
        })
    }

    /// The factorisation for a given sketch of A.
    fn core(&self, input: &Input, sketch: MatRef<'_, f64>) -> Result<(PivotedQr, Sound)> {
        let a = &input.a;
        let (gpu, [m, n]) = (a.gpu(), input::shape(OP, a)?);
        let sketched = small::pivoted_qr(sketch);
        let found = sketched.rank(self.tolerance);
        let factored = factor(a, &sketched, found)?;
        let pivots = sketched.pivots;
        let Some((q, triangle)) = factored else {
            let (q, r) = (gpu.empty([m, 0])?, gpu.empty([0, n])?);
            let sound = if input.norm()? == 0.0 { Sound::Yes } else { Sound::No };
            return Ok((PivotedQr { q, r, pivots, rank: 0 }, sound));
        };
        let rank = triangle.nrows();
        let sound = if rank == m.min(n) {
            Sound::Yes
        } else if rank < found {
            Sound::No
        } else {
            // A rank below the full one is held against the matrix.
            let mut rest = permuted(a, &pivots)?;
            let r = small::upload(gpu, triangle.as_ref())?;
            product(&q, &r).alpha(-1.0).beta(1.0).run_into(&mut rest)?;
            // What the tolerance leaves out of each column is none of the sketch's doing.
            let left_out = 2.0 * self.tolerance * ((n - rank) as f64).sqrt();
            if norm(&rest)? <= RESIDUAL.max(left_out) * input.norm()? { Sound::Yes } else { Sound::No }
        };
        let r = small::upload(gpu, (triangle * input.scale).as_ref())?;
        Ok((PivotedQr { q, r, pivots, rank }, sound))
    }
}

/// Whether a sketch has kept what matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sound {
    Yes,
    No,
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size, rounded up")]
fn rows_of_sketch(gamma: f64, n: usize) -> usize {
    (gamma * n as f64).ceil() as usize
}

/// A sketch of so many rows, or the matrix where it has no more.
pub(super) fn sketch_of(a: &Tensor<f32>, rows: usize, nonzeros: usize, seed: u64) -> Result<Mat<f64>> {
    let m = a.shape()[0];
    if rows >= m {
        return small::download(a);
    }
    let kind = SketchKind::Sjlt { nonzeros: nonzeros.min(rows) };
    small::download(&Sketch::new(kind, [rows, m], seed)?.left(a)?)
}

/// A with its columns in the order of the pivots, as many as there are: the product with the columns of the identity.
fn permuted(a: &Tensor<f32>, pivots: &[usize]) -> Result<Tensor<f32>> {
    let mut order = Mat::zeros(a.shape()[1], pivots.len());
    for (at, &pivot) in pivots.iter().enumerate() {
        order[(pivot, at)] = 1.0;
    }
    matmul(a, &small::upload(a.gpu(), order.as_ref())?)
}

/// Q and the triangle of the first columns in the order of the pivots, with the help of a sketch's. None if there is no
/// column.
fn factor(a: &Tensor<f32>, sketched: &Pivoted, k: usize) -> Result<Option<(Tensor<f32>, Mat<f64>)>> {
    if k == 0 {
        return Ok(None);
    }
    let (gpu, head) = (a.gpu(), sketched.r.get(..k, ..k));
    let inverse = sketched.inverse(k);
    let mut q = matmul(a, &small::upload(gpu, inverse.as_ref())?)?;
    if head[(0, 0)].abs() > REFINED_FROM * head[(k - 1, k - 1)].abs() {
        // One step of refinement: what is left of A is small, so its product with the inverse is exact enough.
        let mut rest = permuted(a, &sketched.pivots[..k])?;
        product(&q, &small::upload(gpu, head)?).alpha(-1.0).beta(1.0).run_into(&mut rest)?;
        let inverse = small::inverse_of_upper(head);
        product(&rest, &small::upload(gpu, inverse.as_ref())?).beta(1.0).run_into(&mut q)?;
    }
    let mut triangle = sketched.r.get(..k, ..).to_owned();
    // Cholesky QR twice: the second time the columns are orthonormal but for the rounding of the first.
    for _ in 0..2 {
        let l = small::cholesky(gram(&q)?.as_ref(), LEAST_PIVOT);
        if l.nrows() == 0 {
            return Ok(None);
        }
        let columns = small::upload(gpu, small::inverse_transpose_of_lower(l.as_ref()).as_ref())?;
        q = matmul(&q.slice(1, ..l.nrows())?, &columns)?;
        triangle = l.transpose() * triangle.get(..l.nrows(), ..);
    }
    Ok(Some((q, triangle)))
}

/// $Q^TQ$, in parts that are summed in one go each.
fn gram(q: &Tensor<f32>) -> Result<Mat<f64>> {
    let parts = u32::try_from(q.shape()[0].div_ceil(ROWS_PER_PART)).unwrap_or(u32::MAX).min(PARTS_AT_MOST);
    small::download(&product(&q.t(), q).split_k(SplitK::Splits(parts)).run()?)
}
