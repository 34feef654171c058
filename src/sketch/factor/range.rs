//! The range of a matrix: orthonormal columns whose span contains most of it.

use super::device::{matmul, product};
use super::host;
use super::input::{self, Input};
use super::timings::{Part, Timings};
use crate::error::call;
use crate::sketch::operator::{Sketch, SketchKind};
use crate::tensor::Tensor;
use crate::{Error, Result};
use faer::Mat;

const OP: &str = "range";

/// A column of norm 1 counts as lying in the span of the columns before it if the part outside is smaller than this.
const MIN_INDEPENDENT: f64 = 1e-4;
/// Largest number of orthogonalisations against earlier columns. Two are enough unless columns must be replaced.
const MAX_ATTEMPTS: u64 = 8;

/// Orthonormal columns Q with $A \approx Q Q^T A$, computed from random combinations of the columns of A.
/// [`RangeFinder`] has the options.
///
/// # Shapes
/// `a` (m, n) -> (m, l) with l = `columns`, at most m and n.
/// # Errors
/// As for [`RangeFinder::run`].
/// # Precision
/// As for [`RangeFinder`].
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::{Fill, matmul, sketch};
///
/// let [b, c] = [[60, 3], [3, 40]].map(|shape| gpu.random::<f32>(shape, Fill::Uniform, 1));
/// let a = matmul(&b?, &c?)?; // of rank 3
/// let q = sketch::range(&a, 3)?;
/// let projected = matmul(&q, &matmul(&q.t(), &a)?)?.to_vec()?;
/// assert!(a.to_vec()?.iter().zip(projected).all(|(a, p)| (a - p).abs() < 1e-5));
/// # Ok(())
/// # }
/// ```
pub fn range(a: &Tensor<f32>, columns: usize) -> Result<Tensor<f32>> {
    RangeFinder::new(a, columns).run()
}

/// A search for the range of a matrix, with options. Call [`run`](Self::run) to compute it.
///
/// It computes $Q$ of the QR factorisation of $(A A^T)^q A \Omega$, where $\Omega$ is random, and orthonormalises after
/// each product (Halko, Martinsson and Tropp, 2011, algorithm 4.4). Products run on the device; panels are factored on
/// the CPU in f64.
///
/// # Precision
/// $\|Q^T Q - I\|_F \le 2^{-22} l$. With Gaussian entries and $q = 0$, the mean of $\|A - QQ^TA\|_F^2$ is at most
/// $1 + k / (l - k - 1)$ times the least of any matrix of rank $k$, for every $k \le l - 2$; with $q = 2$ it is close
/// to the least.
#[derive(Clone, Debug)]
#[must_use = "nothing is computed before `run`"]
pub struct RangeFinder<'a> {
    a: &'a Tensor<f32>,
    columns: usize,
    pub(super) search: Search,
}

/// The random combinations with which a search begins, and the number of its power iterations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search {
    pub(super) kind: SketchKind,
    pub(super) seed: u64,
    pub(super) power: usize,
}

impl Default for Search {
    fn default() -> Self {
        Self { kind: SketchKind::Gaussian, seed: 0, power: 2 }
    }
}

impl<'a> RangeFinder<'a> {
    /// A search for this number of columns.
    pub fn new(a: &'a Tensor<f32>, columns: usize) -> Self {
        Self { a, columns, search: Search::default() }
    }

    /// The number q of power iterations, 2 by default. Each multiplies by $A A^T$, which takes two products.
    pub fn power(mut self, iterations: usize) -> Self {
        self.search.power = iterations;
        self
    }

    /// The seed of the random combinations, 0 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.search.seed = seed;
        self
    }

    /// The distribution of the coefficients of the combinations, Gaussian by default.
    pub fn kind(mut self, kind: SketchKind) -> Self {
        self.search.kind = kind;
        self
    }

    /// Computes the range.
    ///
    /// # Shapes
    /// A (m, n) -> Q (m, l). For a matrix of lower rank, the remaining columns are arbitrary orthonormal ones.
    /// # Errors
    /// [`Error::Shape`] if A is not a matrix with rows and columns, or if l is more than m or n; [`Error::Input`] if an
    /// entry is NaN or infinite, with its index; [`Error::Limit`] or [`Error::OutOfMemory`] if a buffer does not fit;
    /// the errors of [`Sketch::new`].
    pub fn run(&self) -> Result<Tensor<f32>> {
        call("range", || {
            let [m, n] = input::shape(OP, self.a)?;
            if self.columns > m.min(n) {
                let rule = "the range must have no more columns than the matrix has rows and columns";
                return Err(Error::shapes(OP, rule, self.a.shape(), &[self.columns]));
            }
            let input = Input::new(OP, self.a)?;
            if self.columns == 0 {
                return self.a.gpu().empty([m, 0]);
            }
            self.search.block(&input.a, &[], self.columns, 0, &mut Timings::default())
        })
    }
}

impl Search {
    /// A block of orthonormal columns whose span contains most of `a`, orthogonal to the earlier blocks. Block 0 is
    /// drawn with the seed itself.
    pub(super) fn block(
        &self,
        a: &Tensor<f32>,
        earlier: &[Tensor<f32>],
        columns: usize,
        block: u64,
        timings: &mut Timings,
    ) -> Result<Tensor<f32>> {
        if columns == a.shape()[1] && earlier.is_empty() {
            // As many columns as the matrix has: its own columns span its range.
            let panel = timings.measure(Part::Products, || host::download(a))?;
            return timings
                .measure(Part::Small, || host::upload(a.gpu(), host::qr(panel.as_ref()).0.as_ref()));
        }
        // Each block has its own seed. The odd multiplier keeps the seeds of blocks apart.
        let seed = self.seed.wrapping_add(block.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let sketch = Sketch::new(self.kind, [columns, a.shape()[1]], seed)?;
        let panel = timings.measure(Part::Sketches, || host::download(&sketch.right(a)?))?;
        let orthonormal = |panel: Mat<f64>, timings: &mut Timings| {
            timings.measure(Part::Small, || host::upload(a.gpu(), host::qr(panel.as_ref()).0.as_ref()))
        };
        let mut q = orthonormal(panel, timings)?;
        for _ in 0..self.power {
            let back = timings.measure(Part::Products, || host::download(&matmul(&a.t(), &q)?))?;
            let back = orthonormal(back, timings)?;
            let panel = timings.measure(Part::Products, || host::download(&matmul(a, &back)?))?;
            q = orthonormal(panel, timings)?;
        }
        if earlier.is_empty() { Ok(q) } else { orthogonalise(q, earlier, seed, timings) }
    }
}

/// Orthogonalises orthonormal columns against earlier blocks.
fn orthogonalise(
    mut q: Tensor<f32>,
    earlier: &[Tensor<f32>],
    seed: u64,
    timings: &mut Timings,
) -> Result<Tensor<f32>> {
    let mut clean = 0;
    for attempt in 0..MAX_ATTEMPTS {
        let panel = timings.measure(Part::Products, || {
            for block in earlier {
                let share = matmul(&block.t(), &q)?;
                product(block, &share).alpha(-1.0).beta(1.0).run_into(&mut q)?;
            }
            host::download(&q)
        })?;
        q = timings.measure(Part::Small, || {
            let (mut columns, r) = host::qr(panel.as_ref());
            // A column in the span of the earlier blocks leaves only rounding, which may lie in that span again. A
            // random column replaces it.
            let lost: Vec<usize> = (0..r.ncols()).filter(|&j| r[(j, j)].abs() < MIN_INDEPENDENT).collect();
            clean = if lost.is_empty() { clean + 1 } else { 0 };
            replace(&mut columns, &lost, seed.wrapping_add(attempt))?;
            host::upload(q.gpu(), columns.as_ref())
        })?;
        // Twice is enough (Kahan and Parlett): the first time leaves rounding errors, which are large relative to a
        // short column.
        if clean == 2 {
            break;
        }
    }
    Ok(q)
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
