//! Truncated singular value decompositions.

use super::input::{self, Input, norm};
use super::products::{matmul, product};
use super::range::Search;
use super::small::{self, SmallSvd};
use super::timings::{Part, Timings};
use crate::error::call;
use crate::sketch::SketchKind;
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result, ops};
use faer::Mat;

const OP: &str = "rsvd";

/// The lowest tolerance: below, residuals of f32 products are rounding.
const LEAST_TOLERANCE: f64 = 1.0 / (1 << 20) as f64;
/// What rounding a factor's entries to f32 may add to a relative residual.
const ROUNDING: f64 = 1.0 / (1 << 22) as f64;
/// Columns of a block where the rank is looked for, and at most where it is given.
const BLOCK: usize = 32;
const BLOCK_AT_MOST: usize = 128;

/// The first singular values and vectors of a matrix, $A \approx U \mathrm{diag}(s) V^T$. [`Rsvd`] has the options.
///
/// # Shapes
/// `a` (m, n) -> U (m, k), s (k), V (n, k) with k = `rank`, no more than m and n.
/// # Errors
/// As [`Rsvd::run`].
/// # Precision
/// As [`Rsvd`].
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::{Fill, sketch};
///
/// let a = gpu.random::<f32>([300, 200], Fill::Uniform, 1)?;
/// let svd = sketch::rsvd(&a, 20)?;
/// assert_eq!((svd.u.shape(), svd.s.len(), svd.v.shape()), (&[300, 20][..], 20, &[200, 20][..]));
/// println!("{:.3} of the norm is left; {}", svd.rel_residual, svd.timings);
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
    /// The left singular vectors: (m, k), orthonormal columns.
    pub u: Tensor<f32>,
    /// The singular values, the largest first. NOTE: in f64, as those of a large f32 matrix may be beyond f32.
    pub s: Vec<f64>,
    /// The right singular vectors: (n, k), orthonormal columns.
    pub v: Tensor<f32>,
    /// How many there are: k.
    pub rank: usize,
    /// $\|A - U \mathrm{diag}(s) V^T\|_F$, from what is left of A after all columns were taken from it one block after
    /// another, and from the singular values that were found and dropped.
    pub residual: f64,
    /// The residual, relative to $\|A\|_F$.
    pub rel_residual: f64,
    /// Where the time went, but for the last product, which is recorded and not waited for.
    pub timings: Timings,
}

impl Svd {
    /// $U \mathrm{diag}(s) V^T$.
    ///
    /// # Shapes
    /// (m, n)
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Limit`] if there is no room.
    pub fn to_matrix(&self) -> Result<Tensor<f32>> {
        call("Svd::to_matrix", || {
            let s: Vec<f32> = self.s.iter().map(|&s| crate::Element::from_f64(s)).collect();
            let s = self.u.gpu().tensor(&s, [self.rank])?;
            matmul(&ops::mul(&self.u, &s)?, &self.v.t())
        })
    }
}

/// What becomes of a rank beyond the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beyond {
    Refused,
    Clamped,
}

/// How a truncated singular value decomposition is computed: blocks of orthonormal columns $Q_{i}$ that hold most of
/// what the blocks before have left of A ([`RangeFinder`](crate::sketch::RangeFinder)), $B_{i} = Q_{i}^{T} A$, $A
/// \leftarrow A - Q_{i} B_{i}$ (Martinsson and Voronin, 2016), and at last the decomposition of B. What is left of A is
/// stored, so that the residual is known without cancellation, and A may be of any scale: it is scaled by a power of
/// two.
///
/// # Precision
/// With two power iterations and ten columns more than the rank, residuals are within 3 per cent of the least
/// possible in the tests, whose spectra are flat, decaying and in clusters. Vectors are orthonormal, $\|U^TU - I\|_F
/// \le 2^{-20} k$ and V likewise. Singular values are off by no more than the largest singular value of what is left,
/// and $2^{-20} \|A\|_F$. Entries below $2^{-126}$ times the largest, or below $2^{-126}$, may count as 0.
#[derive(Clone, Debug)]
#[must_use = "a decomposition is computed by `run`"]
pub struct Rsvd<'a> {
    a: &'a Tensor<f32>,
    rank: Option<usize>,
    beyond: Beyond,
    tolerance: Option<f64>,
    oversampling: usize,
    block: Option<usize>,
    search: Search,
}

impl<'a> Rsvd<'a> {
    /// The decomposition of `a`, which wants a [`rank`](Self::rank), a [`tolerance`](Self::tolerance) or both.
    pub fn new(a: &'a Tensor<f32>) -> Self {
        Self {
            a,
            rank: None,
            beyond: Beyond::Refused,
            tolerance: None,
            oversampling: 10,
            block: None,
            search: Search::default(),
        }
    }

    /// How many singular values; with a tolerance, at most.
    pub fn rank(mut self, rank: usize) -> Self {
        self.rank = Some(rank);
        self
    }

    /// Takes as many singular values as there are where the rank is more than that.
    pub fn clamped(mut self) -> Self {
        self.beyond = Beyond::Clamped;
        self
    }

    /// The relative residual, $\|A - U \mathrm{diag}(s) V^T\|_F \le$ `tolerance` $\|A\|_F$, for which the least rank is
    /// looked for.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = Some(tolerance);
        self
    }

    /// How many columns more than the rank are looked for: 10 unless said otherwise.
    pub fn oversampling(mut self, columns: usize) -> Self {
        self.oversampling = columns;
        self
    }

    /// How often the range is multiplied by $AA^T$: 2 unless said otherwise.
    pub fn power(mut self, iterations: usize) -> Self {
        self.search.power = iterations;
        self
    }

    /// Columns of a block: unless said otherwise all there are up to 128 of a given rank, and 32 where a tolerance says
    /// when to stop.
    pub fn block(mut self, columns: usize) -> Self {
        self.block = Some(columns);
        self
    }

    /// The seed of the random combinations: 0 unless said otherwise.
    pub fn seed(mut self, seed: u64) -> Self {
        self.search.seed = seed;
        self
    }

    /// What the coefficients of the random combinations are: Gaussian unless said otherwise.
    pub fn kind(mut self, kind: SketchKind) -> Self {
        self.search.kind = kind;
        self
    }

    /// Computes the decomposition.
    ///
    /// # Shapes
    /// A (m, n) -> U (m, k), s (k), V (n, k). k is the rank that was asked for, also of a matrix of lower rank, whose
    /// last singular values are 0 but for rounding; with a tolerance it is the least found to be enough, and 0 of a
    /// matrix of zeros.
    /// # Errors
    /// [`Error::Shape`] if A is no matrix with rows and columns, or the rank is more than m or n and not
    /// [`clamped`](Self::clamped). [`Error::Input`] if an entry is NaN or infinite, with its place; if there is neither
    /// rank nor tolerance, or no column in a block; if the tolerance is not positive, is below $2^{-20}$, which
    /// residuals in f32 cannot tell from 0, or is not met by all that can be found, when no rank was given.
    /// [`Error::Limit`], [`Error::OutOfMemory`] without room. Those of [`Sketch::new`](crate::sketch::Sketch::new).
    pub fn run(&self) -> Result<Svd> {
        call("rsvd", || {
            let shape = input::shape(OP, self.a)?;
            let (most, tolerance) = self.goal(shape)?;
            let mut timings = Timings::default();
            let input = timings.of(Part::Checks, || Input::new(OP, self.a))?;
            let total = timings.of(Part::Checks, || input.norm())?;
            let target =
                tolerance.map_or(0.0, |tolerance| (tolerance.powi(2) - ROUNDING.powi(2)).sqrt() * total);
            if total == 0.0 || most == 0 || tolerance.is_some_and(|tolerance| tolerance >= 1.0) {
                let rank = if tolerance.is_some() { 0 } else { most };
                return nothing(self.a.gpu(), shape, rank, total * input.scale, timings);
            }
            let mut found = Found { rest: input.a, left: total, columns: 0, q: Vec::new(), b: Vec::new() };
            self.extend(&mut found, most, target, &mut timings)?;

            let SmallSvd { u, s, v } = timings.of(Part::Small, || found.svd())?;
            let tail =
                |rank: usize| s[rank..].iter().rev().fold(found.left.powi(2), |sum, s| sum + s * s).sqrt();
            let enough = (0..=s.len()).find(|&rank| tail(rank) <= target).unwrap_or(s.len());
            let rank = if tolerance.is_some() { enough.min(most) } else { most };
            let residual = tail(rank);
            if residual > target && tolerance.is_some() && self.rank.is_none() {
                let least = residual / total;
                let why = format!("it is not met: rounding leaves a relative residual of {least:.1e}");
                return Err(Error::input("rsvd: the tolerance", why));
            }
            let gpu = self.a.gpu();
            let v = timings.of(Part::Small, || small::upload(gpu, v.get(.., ..rank)))?;
            let s = s[..rank].iter().map(|s| s * input.scale).collect();
            let u = found.combined(&u, rank)?;
            Ok(Svd {
                u,
                s,
                v,
                rank,
                residual: residual * input.scale,
                rel_residual: residual / total,
                timings,
            })
        })
    }

    /// The most singular values that there may be, and the tolerance, both checked.
    fn goal(&self, shape: [usize; 2]) -> Result<(usize, Option<f64>)> {
        let full = shape[0].min(shape[1]);
        let most = match (self.rank, self.beyond) {
            (Some(rank), Beyond::Refused) if rank > full => {
                let rule = "the rank must be no more than rows and columns, unless it is clamped";
                return Err(Error::shapes(OP, rule, &shape, &[rank]));
            }
            (Some(rank), _) => rank.min(full),
            (None, _) if self.tolerance.is_none() => {
                return Err(Error::input("rsvd", "it needs a rank or a tolerance"));
            }
            (None, _) => full,
        };
        if self.block == Some(0) {
            return Err(Error::input("rsvd: the block", "it must have a column"));
        }
        match self.tolerance {
            Some(tolerance) if tolerance.is_nan() || tolerance < LEAST_TOLERANCE => {
                let why = format!("{tolerance} is less than residuals in f32 can be told from 0, 2^-20");
                Err(Error::input("rsvd: the tolerance", why))
            }
            tolerance => Ok((most, tolerance)),
        }
    }

    /// Looks for blocks until the target is met, or there are as many columns as are wanted, or nothing is left but
    /// rounding.
    fn extend(&self, found: &mut Found, most: usize, target: f64, timings: &mut Timings) -> Result<()> {
        let full = found.rest.shape()[0].min(found.rest.shape()[1]);
        let wanted = if self.rank.is_some() { (most + self.oversampling).min(full) } else { full };
        let block = match (self.block, self.tolerance) {
            (Some(block), _) => block,
            (None, Some(_)) => BLOCK,
            (None, None) => BLOCK_AT_MOST,
        };
        while found.columns < wanted && (found.left > target || self.tolerance.is_none()) {
            let columns = block.min(wanted - found.columns);
            let q = self.search.block(&found.rest, &found.q, columns, found.q.len() as u64, timings)?;
            let before = found.left;
            let share = columns as f64 / (full - found.columns) as f64;
            found.take(q, timings)?;
            // Even columns at random take their share of what is left. Rounding errors that lie in the columns that
            // there are cannot be taken: where less than half of the share is, it is them.
            if self.tolerance.is_some() && found.left.powi(2) > before.powi(2) * (1.0 - share / 2.0) {
                break;
            }
        }
        Ok(())
    }
}

/// The blocks so far: $A = QB +$ rest.
struct Found {
    rest: Tensor<f32>,
    /// The norm of the rest.
    left: f64,
    columns: usize,
    q: Vec<Tensor<f32>>,
    b: Vec<Mat<f64>>,
}

impl Found {
    /// Takes from the rest what lies in these columns.
    fn take(&mut self, q: Tensor<f32>, timings: &mut Timings) -> Result<()> {
        let b = timings.of(Part::Products, || {
            let b = matmul(&q.t(), &self.rest)?;
            product(&q, &b).alpha(-1.0).beta(1.0).run_into(&mut self.rest)?;
            self.left = norm(&self.rest)?;
            small::download(&b)
        })?;
        self.columns += b.nrows();
        self.q.push(q);
        self.b.push(b);
        Ok(())
    }

    /// The decomposition of B, through that of the triangle of $B^T$.
    fn svd(&self) -> Result<SmallSvd> {
        let n = self.rest.shape()[1];
        let mut transposed = Mat::zeros(n, self.columns);
        let mut at = 0;
        for b in &self.b {
            transposed.get_mut(.., at..at + b.nrows()).copy_from(b.transpose());
            at += b.nrows();
        }
        let (q, r) = small::qr(transposed.as_ref());
        let svd = small::svd(r.transpose())?;
        Ok(SmallSvd { v: q * &svd.v, ..svd })
    }

    /// Q times the first columns of a small matrix.
    fn combined(&self, u: &Mat<f64>, rank: usize) -> Result<Tensor<f32>> {
        let gpu = self.rest.gpu();
        if rank == 0 {
            return gpu.empty([self.rest.shape()[0], 0]);
        }
        let mut combined = gpu.zeros([self.rest.shape()[0], rank])?;
        let mut at = 0;
        for q in &self.q {
            let columns = q.shape()[1];
            let part = small::upload(gpu, u.get(at..at + columns, ..rank))?;
            product(q, &part).beta(1.0).run_into(&mut combined)?;
            at += columns;
        }
        Ok(combined)
    }
}

/// What a matrix without anything to find is: the first unit vectors, and zeros.
fn nothing(gpu: &Gpu, [m, n]: [usize; 2], rank: usize, residual: f64, timings: Timings) -> Result<Svd> {
    let unit = |rows: usize| small::upload(gpu, Mat::identity(rows, rank).as_ref());
    let rel_residual = if residual > 0.0 { 1.0 } else { 0.0 };
    Ok(Svd { u: unit(m)?, s: vec![0.0; rank], v: unit(n)?, rank, residual, rel_residual, timings })
}
