//! The range of a matrix: orthonormal columns that hold most of it.

use super::input::{self, Input};
use super::products::{matmul, product};
use super::small;
use super::timings::{Part, Timings};
use crate::error::call;
use crate::sketch::{Sketch, SketchKind};
use crate::tensor::Tensor;
use crate::{Error, Result};
use faer::Mat;

const OP: &str = "range";

/// A column of norm 1 of which so little is outside of the columns before it is one of theirs, but for rounding.
const LOST: f64 = 1e-4;
/// Times that columns are made orthogonal to earlier ones at most: two, unless they must be replaced.
const ATTEMPTS: u64 = 8;

/// Orthonormal columns Q for which $A \approx Q Q^T A$, from random combinations of the columns of A. [`RangeFinder`]
/// has the options.
///
/// # Shapes
/// `a` (m, n) -> (m, l), l no more than m and n.
/// # Errors
/// As [`RangeFinder::run`].
/// # Precision
/// As [`RangeFinder`].
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

/// How a range is looked for: $Q$ of the QR factorisation of $(A A^T)^q A \Omega$, orthonormalised after every product
/// (Halko, Martinsson and Tropp, 2011, algorithm 4.4). The products are the device's; panels are factored on the CPU in
/// f64.
///
/// # Precision
/// $\|Q^T Q - I\|_F \le 2^{-22} l$. With Gaussian entries and $q = 0$, the mean of $\|A - QQ^TA\|_F^2$ is at most
/// $1 + k / (l - k - 1)$ times the least possible of rank $k$, for every $k \le l - 2$; with $q = 2$ it is close to the
/// least.
#[derive(Clone, Debug)]
#[must_use = "a range is looked for by `run`"]
pub struct RangeFinder<'a> {
    a: &'a Tensor<f32>,
    columns: usize,
    pub(super) search: Search,
}

/// What random combinations a search begins with, and how often it multiplies by $A A^T$.
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
    /// The search for so many columns that hold most of `a`.
    pub fn new(a: &'a Tensor<f32>, columns: usize) -> Self {
        Self { a, columns, search: Search::default() }
    }

    /// How often the range is multiplied by $A A^T$, which takes two products each time: 2 unless said otherwise.
    pub fn power(mut self, iterations: usize) -> Self {
        self.search.power = iterations;
        self
    }

    /// The seed of the random combinations: 0 unless said otherwise.
    pub fn seed(mut self, seed: u64) -> Self {
        self.search.seed = seed;
        self
    }

    /// What the coefficients of the combinations are: Gaussian unless said otherwise.
    pub fn kind(mut self, kind: SketchKind) -> Self {
        self.search.kind = kind;
        self
    }

    /// Looks for the range.
    ///
    /// # Shapes
    /// A (m, n) -> Q (m, l). A matrix of lower rank has l columns as well: what is left of them is any.
    /// # Errors
    /// [`Error::Shape`] if A is no matrix with rows and columns, or l is more than m or n; [`Error::Input`] if an entry
    /// is NaN or infinite, with its place; [`Error::Limit`], [`Error::OutOfMemory`] without room. Those of
    /// [`Sketch::new`].
    pub fn run(&self) -> Result<Tensor<f32>> {
        call("range", || {
            let [m, n] = input::shape(OP, self.a)?;
            if self.columns > m.min(n) {
                let rule = "there must be no more columns than the matrix has rows and columns";
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
    /// So many orthonormal columns that hold most of `a`, orthogonal to the earlier blocks; block 0 is drawn with the
    /// seed itself.
    pub(super) fn block(
        &self,
        a: &Tensor<f32>,
        earlier: &[Tensor<f32>],
        columns: usize,
        block: u64,
        timings: &mut Timings,
    ) -> Result<Tensor<f32>> {
        if columns == a.shape()[1] && earlier.is_empty() {
            // As many as the matrix has: no combination holds more than its own.
            let panel = timings.of(Part::Products, || small::download(a))?;
            return timings.of(Part::Small, || small::upload(a.gpu(), small::qr(panel.as_ref()).0.as_ref()));
        }
        // Another seed for every block: steps of an odd number meet no seed near by again.
        let seed = self.seed.wrapping_add(block.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let sketch = Sketch::new(self.kind, [columns, a.shape()[1]], seed)?;
        let panel = timings.of(Part::Sketches, || small::download(&sketch.right(a)?))?;
        let orthonormal = |panel: Mat<f64>, timings: &mut Timings| {
            timings.of(Part::Small, || small::upload(a.gpu(), small::qr(panel.as_ref()).0.as_ref()))
        };
        let mut q = orthonormal(panel, timings)?;
        for _ in 0..self.power {
            let back = timings.of(Part::Products, || small::download(&matmul(&a.t(), &q)?))?;
            let back = orthonormal(back, timings)?;
            let panel = timings.of(Part::Products, || small::download(&matmul(a, &back)?))?;
            q = orthonormal(panel, timings)?;
        }
        if earlier.is_empty() { Ok(q) } else { apart(q, earlier, seed, timings) }
    }
}

/// Makes orthonormal columns orthogonal to earlier blocks.
fn apart(
    mut q: Tensor<f32>,
    earlier: &[Tensor<f32>],
    seed: u64,
    timings: &mut Timings,
) -> Result<Tensor<f32>> {
    let mut clean = 0;
    for attempt in 0..ATTEMPTS {
        let panel = timings.of(Part::Products, || {
            for block in earlier {
                let share = matmul(&block.t(), &q)?;
                product(block, &share).alpha(-1.0).beta(1.0).run_into(&mut q)?;
            }
            small::download(&q)
        })?;
        q = timings.of(Part::Small, || {
            let (mut columns, r) = small::qr(panel.as_ref());
            // What is left of a column that lay in the blocks is rounding, which may lie there again: another will do.
            let lost: Vec<usize> = (0..r.ncols()).filter(|&j| r[(j, j)].abs() < LOST).collect();
            clean = if lost.is_empty() { clean + 1 } else { 0 };
            replace(&mut columns, &lost, seed.wrapping_add(attempt))?;
            small::upload(q.gpu(), columns.as_ref())
        })?;
        // Twice is enough (Kahan and Parlett): what the first time leaves is rounding of a column that may have been
        // short.
        if clean == 2 {
            break;
        }
    }
    Ok(q)
}

/// Replaces columns by random ones of norm 1 or so.
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
