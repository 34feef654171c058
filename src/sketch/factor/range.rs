//! The range of a matrix: orthonormal columns whose span contains most of it.

use super::input::{self, ScaledMatrix};
use super::search::Search;
use super::timings::Timings;
use crate::error::call;
use crate::progress::Steps;
use crate::sketch::operator::SketchKind;
use crate::tensor::Tensor;
use crate::{Error, Result};

const OP: &str = "range";

/// Default number of power iterations.
const POWER: usize = 2;

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
/// It builds the Krylov space of $\Omega, A^TA\\, \Omega, \ldots, (A^TA)^q\\, \Omega$, where $\Omega$ is random, by block
/// Lanczos bidiagonalisation (Golub, Luk and Overton, 1981; Musco and Musco, 2015). It takes the l directions of that
/// space in which A is largest, and orthonormalises their products with A. Products run on the device; panels are
/// factored on the CPU in f64.
///
/// # Precision
/// $\\|Q^T Q - I\\|\_F \le 2^{-22} l$. With Gaussian entries and $q = 0$, the mean of $\\|A - QQ^TA\\|\_F^2$ is at most
/// $1 + k / (l - k - 1)$ times the least of any matrix of rank $k$, for every $k \le l - 2$; with $q = 2$ it is close
/// to the least.
#[derive(Clone, Debug)]
#[must_use = "nothing is computed before `run`"]
pub struct RangeFinder<'a> {
    a: &'a Tensor<f32>,
    columns: usize,
    search: Search,
}

impl<'a> RangeFinder<'a> {
    /// A search for this number of columns.
    pub fn new(a: &'a Tensor<f32>, columns: usize) -> Self {
        let search = Search { kind: SketchKind::Gaussian, seed: 0, power: POWER };
        Self { a, columns, search }
    }

    /// The number q of power iterations, 2 by default. Each takes two products with l columns, one with $A^T$ and one
    /// with A. The search keeps the directions of all iterations, so that it stops early if no new ones appear.
    pub fn power(self, iterations: usize) -> Self {
        Self { search: Search { power: iterations, ..self.search }, ..self }
    }

    /// The seed of the random combinations, 0 by default.
    pub fn seed(self, seed: u64) -> Self {
        Self { search: Search { seed, ..self.search }, ..self }
    }

    /// The distribution of the coefficients of the combinations, Gaussian by default.
    pub fn kind(self, kind: SketchKind) -> Self {
        Self { search: Search { kind, ..self.search }, ..self }
    }

    /// Computes the range.
    ///
    /// # Shapes
    /// A (m, n) -> Q (m, l). For a matrix of lower rank, the remaining columns are arbitrary orthonormal ones.
    /// # Errors
    /// [`Error::Shape`] if A is not a matrix with rows and columns, or if l is more than m or n; [`Error::Input`] if an
    /// entry is NaN or infinite, with its index; [`Error::Limit`] or [`Error::OutOfMemory`] if a buffer does not fit;
    /// the errors of [`Sketch::new`](crate::sketch::Sketch::new); [`Error::Cancelled`] in [`with_progress`](crate::with_progress).
    pub fn run(&self) -> Result<Tensor<f32>> {
        call("range", || {
            let [m, n] = input::shape(OP, self.a)?;
            if self.columns > m.min(n) {
                let rule = "the range must have no more columns than the matrix has rows and columns";
                return Err(Error::shapes(OP, rule, self.a.shape(), &[self.columns]));
            }
            let steps = Steps::of(OP, 2);
            steps.at(0, "checking the matrix")?;
            let input = ScaledMatrix::new(OP, self.a)?;
            if self.columns == 0 {
                steps.end()?;
                return self.a.gpu().empty([m, 0]);
            }
            steps.at(1, "the range")?;
            let q = self.search.block(OP, &input.a, &[], self.columns, &mut Timings::default())?;
            steps.end()?;
            Ok(q)
        })
    }
}
