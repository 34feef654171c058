//! Truncated singular value decompositions.

use super::blocks::Blocks;
use super::device::matmul;
use super::estimate::errors;
use super::host::{self, SmallSvd};
use super::input::{self, ScaledMatrix};
use super::search::Search;
use super::timings::{TimedPart, Timings};
use crate::error::call;
use crate::progress::Steps;
use crate::sketch::operator::SketchKind;
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result, ops};
use faer::Mat;

const OP: &str = "rsvd";

/// Smallest tolerance. Below it, residuals of f32 products are rounding errors.
const MIN_TOLERANCE: f64 = 1.0 / (1 << 20) as f64;
/// Largest relative residual that rounding a factor's entries to f32 may add.
const ROUNDING: f64 = 1.0 / (1 << 22) as f64;
/// Default columns of a block if a tolerance decides the rank.
const BLOCK: usize = 32;
/// Default columns of a block if the rank is given: all, but at most this number.
const MAX_BLOCK: usize = 64;
/// Default number of power iterations.
const POWER: usize = 4;
/// Largest distance of U from orthonormal columns, per column.
const ORTHONORMAL: f64 = 1.0 / (1 << 20) as f64;

/// The first singular values and vectors of a matrix, $A \approx U \mathrm{diag}(s) V^T$. [`Rsvd`] has the options.
///
/// # Shapes
/// `a` (m, n) -> U (m, k), s (k), V (n, k) with k = `rank`, at most m and n.
/// # Errors
/// As for [`Rsvd::run`].
/// # Precision
/// As for [`Rsvd`].
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::{Fill, sketch};
///
/// let a = gpu.random::<f32>([300, 200], Fill::Uniform, 1)?;
/// let svd = sketch::rsvd(&a, 20)?;
/// assert_eq!((svd.u.shape(), svd.s.len(), svd.v.shape()), (&[300, 20][..], 20, &[200, 20][..]));
/// println!("relative residual {:.3}; {}", svd.rel_residual, svd.timings);
/// # Ok(())
/// # }
/// ```
/// From an `ndarray` array and back (feature `ndarray`):
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # #[cfg(feature = "ndarray")] {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let array = ndarray::Array2::from_shape_fn((40, 30), |(i, j)| (i * j) as f32); // of rank 1
/// let svd = tilewise::sketch::rsvd(&gpu.from_ndarray(&array)?, 1)?;
/// let back = svd.to_matrix()?.to_ndarray()?;
/// assert!((back - array).iter().all(|error| error.abs() < 0.01));
/// # }
/// # Ok(())
/// # }
/// ```
pub fn rsvd(a: &Tensor<f32>, rank: usize) -> Result<Svd> {
    Rsvd::new(a).rank(rank).run()
}

/// A truncated singular value decomposition.
#[derive(Clone, Debug)]
pub struct Svd {
    /// Left singular vectors (m, k): orthonormal columns.
    pub u: Tensor<f32>,
    /// Singular values, the largest first. NOTE: they are f64, because those of a large f32 matrix may exceed f32.
    pub s: Vec<f64>,
    /// Estimated errors of the singular values: the amount by which each is below that of A. They come from the norms
    /// of $A v_{i} - s_{i} u_{i}$ and from the gap to the first value that was computed and dropped. They include
    /// rounding errors, so they are never 0, except for a matrix of zeros.
    pub s_errors: Vec<f64>,
    /// Right singular vectors (n, k): orthonormal columns.
    pub v: Tensor<f32>,
    /// Number k of singular values.
    pub rank: usize,
    /// $\\|A - U \mathrm{diag}(s) V^T\\|\_F$, computed from the rest of A after all blocks of columns have been
    /// subtracted, and from the singular values that were computed and dropped.
    pub residual: f64,
    /// The residual relative to $\\|A\\|\_F$.
    pub rel_residual: f64,
    /// The times of the parts.
    pub timings: Timings,
}

impl Svd {
    /// The product $U \mathrm{diag}(s) V^T$.
    ///
    /// # Shapes
    /// (m, n)
    /// # Errors
    /// [`Error::OutOfMemory`] or [`Error::Limit`] if the result does not fit.
    pub fn to_matrix(&self) -> Result<Tensor<f32>> {
        call("Svd::to_matrix", || {
            let s: Vec<f32> = self.s.iter().map(|&s| crate::Element::from_f64(s)).collect();
            let s = self.u.gpu().tensor(&s, [self.rank])?;
            matmul(&ops::mul(&self.u, &s)?, &self.v.t())
        })
    }
}

/// The treatment of a rank above the matrix's rows or columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExcessRank {
    Refused,
    Clamped,
}

/// A truncated singular value decomposition, with options. Call [`run`](Self::run) to compute it.
///
/// It finds a block of orthonormal columns $Q_{i}$ that span most of A ([`RangeFinder`](crate::sketch::RangeFinder)),
/// computes $B_{i} = Q_{i}^{T} A$, replaces A by the rest $A - Q_{i} B_{i}$, and continues with the next block
/// (Martinsson and Voronin, 2016). At the end it decomposes B. The rest of A is stored, so the residual has no
/// cancellation error. A may have any scale: it is first scaled by a power of two.
///
/// # Precision
/// With the default four power iterations and ten columns more than the rank, residuals are within 0.3 per cent of the
/// least possible in the tests, and singular values within 1 per cent of those of A plus rounding, even if noise makes
/// the following ones almost as large. [`Svd::s_errors`] estimates the error of each; in the tests no error is larger.
/// Singular values are at most those of A, up to $2^{-20} \\|A\\|\_F$ for rounding. Vectors are orthonormal: $\\|U^TU -
/// I\\|\_F \le 2^{-20} k$, and the same holds for V, for every matrix, or there is an error. Entries below $2^{-126}$
/// times the largest, or below $2^{-126}$, may count as 0.
#[derive(Clone, Debug)]
#[must_use = "nothing is computed before `run`"]
pub struct Rsvd<'a> {
    a: &'a Tensor<f32>,
    rank: Option<usize>,
    excess: ExcessRank,
    tolerance: Option<f64>,
    oversampling: usize,
    block: Option<usize>,
    search: Search,
}

impl<'a> Rsvd<'a> {
    /// A decomposition of `a`. It needs a [`rank`](Self::rank), a [`tolerance`](Self::tolerance) or both.
    pub fn new(a: &'a Tensor<f32>) -> Self {
        Self {
            a,
            rank: None,
            excess: ExcessRank::Refused,
            tolerance: None,
            oversampling: 10,
            block: None,
            search: Search { kind: SketchKind::Gaussian, seed: 0, power: POWER },
        }
    }

    /// The number of singular values; with a tolerance, the largest number.
    pub fn rank(self, rank: usize) -> Self {
        Self { rank: Some(rank), ..self }
    }

    /// If the rank is larger than the matrix allows, uses the largest possible rank instead of returning an error.
    pub fn clamped(self) -> Self {
        Self { excess: ExcessRank::Clamped, ..self }
    }

    /// The largest relative residual: the rank is the smallest with $\\|A - U \mathrm{diag}(s) V^T\\|\_F \le$ `tolerance`
    /// $\\|A\\|\_F$.
    pub fn tolerance(self, tolerance: f64) -> Self {
        Self { tolerance: Some(tolerance), ..self }
    }

    /// The number of columns that are computed in addition to the rank, 10 by default.
    pub fn oversampling(self, columns: usize) -> Self {
        Self { oversampling: columns, ..self }
    }

    /// The number of power iterations, 4 by default. Each multiplies by $A^T$ and by A. Fewer are faster, and leave
    /// larger errors in values that are close to the following ones: see [`Svd::s_errors`].
    pub fn power(self, iterations: usize) -> Self {
        Self { search: Search { power: iterations, ..self.search }, ..self }
    }

    /// The number of columns of a block. By default it is 32 if a tolerance decides when to stop; otherwise all columns
    /// are one block, up to 64.
    pub fn block(self, columns: usize) -> Self {
        Self { block: Some(columns), ..self }
    }

    /// The seed of the random combinations, 0 by default.
    pub fn seed(self, seed: u64) -> Self {
        Self { search: Search { seed, ..self.search }, ..self }
    }

    /// The distribution of the coefficients of the random combinations, Gaussian by default.
    pub fn kind(self, kind: SketchKind) -> Self {
        Self { search: Search { kind, ..self.search }, ..self }
    }

    /// Computes the decomposition.
    ///
    /// # Shapes
    /// A (m, n) -> U (m, k), s (k), V (n, k). Without a tolerance, k is the requested rank; for a matrix of lower rank,
    /// the last singular values are then 0 up to rounding. With a tolerance, k is the smallest rank that meets it, and
    /// 0 for a matrix of zeros.
    /// # Errors
    /// [`Error::Shape`] if A is not a matrix with rows and columns, or if the rank is more than m or n and not
    /// [`clamped`](Self::clamped). [`Error::Input`] if an entry is NaN or infinite, with its index; if neither a rank
    /// nor a tolerance is set; if blocks have no columns; if the tolerance is below $2^{-20}$, the smallest residual
    /// that f32 resolves; if no rank is set and no rank meets the tolerance; or if blocks cannot be made orthogonal to
    /// each other in f32, of which no example is known. [`Error::Limit`] or
    /// [`Error::OutOfMemory`] if a buffer does not fit. The errors of [`Sketch::new`](crate::sketch::Sketch::new).
    /// [`Error::Cancelled`] in [`with_progress`](crate::with_progress).
    pub fn run(&self) -> Result<Svd> {
        call("rsvd", || {
            let shape = input::shape(OP, self.a)?;
            let (max_rank, tolerance) = self.goal(shape)?;
            let mut timings = Timings::default();
            let [wanted, block] = self.columns(shape, max_rank);
            let blocks = wanted.div_ceil(block);
            let steps = Steps::of(OP, blocks + 2);
            steps.at(0, "checking the matrix")?;
            let input = timings.measure(TimedPart::Checks, || ScaledMatrix::new(OP, self.a))?;
            let total = timings.measure(TimedPart::Checks, || input.norm())?;
            let target =
                tolerance.map_or(0.0, |tolerance| (tolerance.powi(2) - ROUNDING.powi(2)).sqrt() * total);
            if total == 0.0 || max_rank == 0 || tolerance.is_some_and(|tolerance| tolerance >= 1.0) {
                let rank = if tolerance.is_some() { 0 } else { max_rank };
                steps.end()?;
                return zero_svd(self.a.gpu(), shape, rank, total * input.scale, timings);
            }
            let mut found = Blocks::new(input.a, total);
            self.extend(&mut found, [wanted, block], target, &mut timings, &steps)?;
            steps.at(1 + blocks, "singular values and vectors")?;

            let SmallSvd { u, s, v } = timings.measure(TimedPart::Small, || found.svd())?;
            let tail =
                |rank: usize| s[rank..].iter().rev().fold(found.left.powi(2), |sum, s| sum + s * s).sqrt();
            let enough = (0..=s.len()).find(|&rank| tail(rank) <= target).unwrap_or(s.len());
            let rank = if tolerance.is_some() { enough.min(max_rank) } else { max_rank };
            let residual = tail(rank);
            if residual > target && tolerance.is_some() && self.rank.is_none() {
                let least = residual / total;
                let why = format!("cannot be met: rounding leaves a relative residual of {least:.1e}");
                return Err(Error::input("rsvd: the tolerance", why));
            }
            let gpu = self.a.gpu();
            let outside =
                timings.measure(TimedPart::Products, || found.outside(&v, (rank + 1).min(s.len())))?;
            let s_errors = errors(&s, &outside, rank, [found.left, total]);
            let v = timings.measure(TimedPart::Small, || host::upload(gpu, v.get(.., ..rank)))?;
            let u = timings
                .measure(TimedPart::Products, || found.combined(&u, rank, ORTHONORMAL * rank as f64))?;
            steps.end()?;
            let scaled = |values: &[f64]| values.iter().map(|value| value * input.scale).collect();
            Ok(Svd {
                u,
                s: scaled(&s[..rank]),
                s_errors: scaled(&s_errors),
                v,
                rank,
                residual: residual * input.scale,
                rel_residual: residual / total,
                timings,
            })
        })
    }

    /// The largest rank and the tolerance, both checked.
    fn goal(&self, shape: [usize; 2]) -> Result<(usize, Option<f64>)> {
        let full = shape[0].min(shape[1]);
        let max_rank = match (self.rank, self.excess) {
            (Some(rank), ExcessRank::Refused) if rank > full => {
                let rule =
                    "the rank must be at most the rows and columns of the matrix, unless it is `clamped`";
                return Err(Error::shapes(OP, rule, &shape, &[rank]));
            }
            (Some(rank), _) => rank.min(full),
            (None, _) if self.tolerance.is_none() => {
                return Err(Error::input("rsvd", "set a `rank` or a `tolerance`: neither is set"));
            }
            (None, _) => full,
        };
        if self.block == Some(0) {
            return Err(Error::input("rsvd: the block", "must have at least one column; got 0"));
        }
        match self.tolerance {
            Some(tolerance) if tolerance.is_nan() || tolerance < MIN_TOLERANCE => {
                let why = format!(
                    "must be at least 2^-20, the smallest residual that f32 resolves; got {tolerance}"
                );
                Err(Error::input("rsvd: the tolerance", why))
            }
            tolerance => Ok((max_rank, tolerance)),
        }
    }

    /// The largest number of columns of all blocks together, and the number of columns of one block.
    fn columns(&self, shape: [usize; 2], max_rank: usize) -> [usize; 2] {
        let full = shape[0].min(shape[1]);
        let wanted = if self.rank.is_some() { (max_rank + self.oversampling).min(full) } else { full };
        let block = match (self.block, self.tolerance) {
            (Some(block), _) => block,
            (None, Some(_)) => BLOCK,
            (None, None) => MAX_BLOCK,
        };
        [wanted, block]
    }

    /// Adds blocks until the target is met, the wanted number of columns is reached, or the rest is only a rounding
    /// error.
    fn extend(
        &self,
        found: &mut Blocks,
        [wanted, block]: [usize; 2],
        target: f64,
        timings: &mut Timings,
        steps: &Steps,
    ) -> Result<()> {
        let full = found.rest.shape()[0].min(found.rest.shape()[1]);
        while found.columns < wanted && (found.left > target || self.tolerance.is_none()) {
            steps.at(1 + found.q.len(), format_args!("block {}", 1 + found.q.len()))?;
            let columns = block.min(wanted - found.columns);
            let q = self.search.block(OP, &found.rest, &found.q, columns, timings)?;
            let before = found.left;
            let share = columns as f64 / (full - found.columns) as f64;
            found.add(q, timings)?;
            // Even random columns would remove their share of the rest. Rounding errors in the span of the existing
            // columns cannot be removed. So if a block removes less than half of its share, the rest is a rounding
            // error.
            if self.tolerance.is_some() && found.left.powi(2) > before.powi(2) * (1.0 - share / 2.0) {
                break;
            }
        }
        Ok(())
    }
}

/// The decomposition of a matrix of zeros, or of rank 0: unit vectors and singular values of 0.
fn zero_svd(gpu: &Gpu, [m, n]: [usize; 2], rank: usize, residual: f64, timings: Timings) -> Result<Svd> {
    let unit = |rows: usize| host::upload(gpu, Mat::identity(rows, rank).as_ref());
    let rel_residual = if residual > 0.0 { 1.0 } else { 0.0 };
    let s = vec![0.0; rank];
    Ok(Svd { u: unit(m)?, s_errors: s.clone(), s, v: unit(n)?, rank, residual, rel_residual, timings })
}
