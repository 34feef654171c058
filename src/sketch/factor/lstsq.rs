//! Linear least squares.

use super::cqrrpt::sketch_of;
use super::device::{matmul, product};
use super::host;
use super::input::{self, ScaledMatrix};
use crate::error::call;
use crate::layout::Element;
use crate::progress::Steps;
use crate::tensor::Tensor;
use crate::{Error, Result, ops};
use faer::Mat;

const OP: &str = "lstsq";

/// Rows of the sketch per column of A. With four, each iteration halves the error.
const ROWS_PER_COLUMN: usize = 4;
/// Nonzeros per column of the sketch.
const NONZEROS: usize = 8;
/// Number of restarts: each begins from the computed residual instead of the one that LSQR predicts.
const RESTARTS: usize = 2;

/// Solves the least-squares problem $\min_{x} \lVert A x - b \rVert$, for several right-hand sides at once. [`Lstsq`]
/// has the options.
///
/// # Shapes
/// `a` (m, n), `b` (m) or (m, c) -> x (n) or (n, c).
/// # Errors
/// As for [`Lstsq::run`].
/// # Precision
/// As for [`Lstsq`].
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::{Fill, matmul, sketch};
///
/// let a = gpu.random::<f32>([500, 10], Fill::Uniform, 1)?;
/// let x = gpu.random::<f32>([10, 1], Fill::Uniform, 2)?;
/// let found = sketch::lstsq(&a, &matmul(&a, &x)?)?;
/// assert!(found.x.to_vec()?.iter().zip(x.to_vec()?).all(|(a, b)| (a - b).abs() < 1e-5));
/// # Ok(())
/// # }
/// ```
pub fn lstsq(a: &Tensor<f32>, b: &Tensor<f32>) -> Result<LeastSquares> {
    Lstsq::new(a, b).run()
}

/// A least-squares solution.
#[derive(Clone, Debug)]
pub struct LeastSquares {
    /// The solution: (n) or (n, c).
    pub x: Tensor<f32>,
    /// $\\|Ax - b\\|$ of each right-hand side.
    pub residuals: Vec<f64>,
    /// Numerical rank of A. If it is below n, x is the solution of least norm. It is 0 if there is no right-hand side.
    pub rank: usize,
    /// Number of iterations, which all right-hand sides share.
    pub iterations: usize,
}

/// A least-squares problem, with options. Call [`run`](Self::run) to solve it.
///
/// A sketch SA of 4 n rows is factored on the CPU in f64. Its triangle preconditions A, so LSQR (Paige and Saunders,
/// 1982) needs few iterations from the solution of the sketched problem, for any condition of A (Rokhlin and Tygert,
/// 2008; Epperly, 2024). Products with A and $A^T$ run on the device; vectors of length n are kept on the CPU in f64.
/// The numerical rank, and with it the solution of least norm, come from the sketch (Meng, Saunders and Mahoney, 2014).
/// Its columns are divided by their norms first, so that the rank does not depend on their units: 1 and $10^6 i$ are
/// two columns.
///
/// # Precision
/// Products are in f32: the residual exceeds the least by at most about $10^{-6} (\\|A\\|\\|x\\| + \\|b\\|)$. The forward
/// error of x is typically at most $10^{-6}$ times the condition number of A.
#[derive(Clone, Debug)]
#[must_use = "nothing is computed before `run`"]
pub struct Lstsq<'a> {
    a: &'a Tensor<f32>,
    b: &'a Tensor<f32>,
    seed: u64,
    tolerance: f64,
    rank_tolerance: f64,
    iterations: usize,
}

impl<'a> Lstsq<'a> {
    /// The problem with matrix `a` (m, n) and right-hand side `b`, (m) or (m, c).
    pub fn new(a: &'a Tensor<f32>, b: &'a Tensor<f32>) -> Self {
        Self { a, b, seed: 0, tolerance: 1e-6, rank_tolerance: 1e-6, iterations: 100 }
    }

    /// The seed of the sketch, 0 by default.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The relative tolerance at which iteration stops, $10^{-6}$ by default. It stops if the part of the residual in
    /// the range of A is below this share, or if the residual is below this times $\\|b\\|$.
    pub fn tolerance(self, relative: f64) -> Self {
        Self { tolerance: relative, ..self }
    }

    /// The relative tolerance of the rank, $10^{-6}$ by default, about the rounding error of an f32 matrix. Singular
    /// values of the sketch, whose columns are divided by their norms, count as 0 below this times the largest.
    pub fn rank_tolerance(self, relative: f64) -> Self {
        Self { rank_tolerance: relative, ..self }
    }

    /// The largest number of iterations, 100 by default. When it is reached, the result is the current solution.
    pub fn iterations(self, max: usize) -> Self {
        Self { iterations: max, ..self }
    }

    /// Solves the problem.
    ///
    /// # Shapes
    /// A (m, n), b (m) or (m, c) -> x (n) or (n, c). If m < n, x is the solution of least norm.
    /// # Errors
    /// [`Error::Shape`] if A is not a matrix with rows and columns, or if b does not have as many rows; [`Error::Gpu`]
    /// if they are on different devices; [`Error::Input`] if an entry is NaN or infinite, with its index, or if a
    /// tolerance is not between 0 and 1; [`Error::Limit`] or [`Error::OutOfMemory`] if a buffer does not fit;
    /// [`Error::Cancelled`] in [`with_progress`](crate::with_progress).
    pub fn run(&self) -> Result<LeastSquares> {
        call("lstsq", || {
            let gpu = self.a.same_gpu(OP, self.b)?;
            let [m, n] = input::shape(OP, self.a)?;
            input::tolerance("lstsq: the tolerance", self.tolerance)?;
            input::tolerance("lstsq: the rank's tolerance", self.rank_tolerance)?;
            let (b, shape) = match *self.b.shape() {
                [rows] if rows == m => (self.b.contiguous()?.reshape([m, 1])?, vec![n]),
                [rows, columns] if rows == m => (self.b.clone(), vec![n, columns]),
                _ => {
                    let rule = "the right-hand side must have as many rows as the matrix";
                    return Err(Error::shapes(OP, rule, self.a.shape(), self.b.shape()));
                }
            };
            if b.is_empty() {
                let x = gpu.empty(shape)?;
                return Ok(LeastSquares { x, residuals: Vec::new(), rank: 0, iterations: 0 });
            }
            let steps = Steps::of(OP, self.iterations.saturating_add(2));
            steps.at(0, "checking the operands")?;
            let (a, b) =
                (ScaledMatrix::new(OP, self.a)?, ScaledMatrix::named(OP, "the right-hand side", &b)?);
            steps.at(1, "the sketch")?;
            let solver = Solver::new(self, &a.a, &b.a)?;
            let (x, norms, iterations) = solver.solve(self, &steps)?;
            steps.end()?;
            let scale = b.scale / a.scale;
            let x = Mat::from_fn(n, x.ncols(), |i, j| x[(i, j)] * scale);
            let x = host::upload(gpu, x.as_ref())?.reshape(shape)?;
            let residuals = norms.into_iter().map(|norm| norm * b.scale).collect();
            Ok(LeastSquares { x, residuals, rank: solver.inverse.ncols(), iterations })
        })
    }
}

/// A problem with its preconditioner N, such that AN has nearly orthonormal columns.
struct Solver<'a> {
    a: &'a Tensor<f32>,
    b: &'a Tensor<f32>,
    /// N: (n, rank).
    inverse: Mat<f64>,
    /// The solution of the sketched problem: (rank, c).
    start: Mat<f64>,
}

impl<'a> Solver<'a> {
    fn new(options: &Lstsq<'_>, a: &'a Tensor<f32>, b: &'a Tensor<f32>) -> Result<Self> {
        let n = a.shape()[1];
        let [sa, sb] = [a, b].map(|x| sketch_of(x, ROWS_PER_COLUMN * n, NONZEROS, options.seed));
        let (sa, sb) = (sa?, sb?);
        let pivoted = host::pivoted_qr_of_units(sa.as_ref());
        if pivoted.rank(options.rank_tolerance) == n {
            let inverse = pivoted.inverse(n);
            if inverse.ncols() == n {
                return Ok(Self { a, b, inverse, start: pivoted.q().transpose() * sb });
            }
        }
        // Columns are compared with their own lengths, because small columns may have other units instead of being
        // rounding errors.
        let units = host::lengths(sa.as_ref());
        let scaled = Mat::from_fn(sa.nrows(), n, |i, j| sa[(i, j)] / units[j]);
        let svd = host::svd(scaled.as_ref())?;
        let rank = svd.s.iter().take_while(|&&s| s > options.rank_tolerance * svd.s[0]).count();
        let inverse = Mat::from_fn(n, rank, |i, j| svd.v[(i, j)] / svd.s[j] / units[i]);
        // The solution in the row space of A has the least norm. V spans the row space of the scaled columns.
        let inverse = if (1..n).contains(&rank) {
            let rows = Mat::from_fn(n, rank, |i, j| svd.v[(i, j)] * units[i]);
            let (rows, _) = host::qr(rows.as_ref());
            let share = rows.transpose() * &inverse;
            rows * share
        } else {
            inverse
        };
        Ok(Self { a, b, inverse, start: svd.u.get(.., ..rank).transpose() * sb })
    }

    /// The solution, the norms of its residuals, and the number of iterations.
    fn solve(&self, options: &Lstsq<'_>, steps: &Steps) -> Result<(Mat<f64>, Vec<f64>, usize)> {
        let enough: Vec<f64> = columns_norms(self.b)?.iter().map(|b| b * options.tolerance).collect();
        let mut x = &self.inverse * &self.start;
        let mut iterations = 0;
        for _ in 0..RESTARTS {
            let (residual, norms) = self.residual(&x)?;
            let remaining = options.iterations - iterations;
            let report =
                |more| steps.at(2 + iterations + more, format_args!("iteration {}", 1 + iterations + more));
            let (z, taken) = self.lsqr((residual, norms), &enough, options.tolerance, remaining, &report)?;
            x += &self.inverse * z;
            iterations += taken;
            if taken == 0 {
                break;
            }
        }
        let (_, norms) = self.residual(&x)?;
        Ok((x, norms, iterations))
    }

    /// The residual b - Ax and the norms of its columns.
    fn residual(&self, x: &Mat<f64>) -> Result<(Tensor<f32>, Vec<f64>)> {
        let one = self.a.gpu().tensor(&[1.0f32], [])?;
        let mut residual = ops::mul(self.b, &one)?; // a copy
        let x = host::upload(self.a.gpu(), x.as_ref())?;
        product(self.a, &x).alpha(-1.0).beta(1.0).run_into(&mut residual)?;
        let norms = columns_norms(&residual)?;
        Ok((residual, norms))
    }

    /// $N^T A^T u$.
    fn back(&self, u: &Tensor<f32>) -> Result<Mat<f64>> {
        Ok(self.inverse.transpose() * host::download(&matmul(&self.a.t(), u)?)?)
    }

    /// Solves $\min \lVert A N z - r \rVert$ by LSQR, each column separately. Returns z and the number of iterations. `u` is
    /// r; it stays on the device and is not normalised. `beta` are the norms of its columns. `report` gets the number of
    /// iterations before the next one.
    fn lsqr(
        &self,
        (mut u, mut beta): (Tensor<f32>, Vec<f64>),
        enough: &[f64],
        tolerance: f64,
        max_iterations: usize,
        report: &dyn Fn(usize) -> Result<()>,
    ) -> Result<(Mat<f64>, usize)> {
        let (rank, columns) = (self.inverse.ncols(), beta.len());
        let mut z = Mat::zeros(rank, columns);
        let mut v = self.back(&u)?;
        let mut states: Vec<LsqrState> = (0..columns)
            .map(|j| {
                scale_column(&mut v, j, reciprocal(beta[j]));
                let alpha = normalise(&mut v, j);
                LsqrState { alpha, rho_bar: alpha, phi_bar: beta[j], left: alpha }
            })
            .collect();
        let mut w = v.clone();
        for iteration in 0..max_iterations {
            let done =
                |(state, &enough): (&LsqrState, &f64)| state.left <= tolerance || state.phi_bar <= enough;
            if states.iter().zip(enough).all(done) {
                return Ok((z, iteration));
            }
            report(iteration)?;
            // The next u is A N v - alpha u / beta, where beta is the norm of u.
            let shares: Vec<f32> = states
                .iter()
                .zip(&beta)
                .map(|(state, &beta)| f32::from_f64(state.alpha * reciprocal(beta)))
                .collect();
            let mut next = ops::mul(&u, &self.a.gpu().tensor(&shares, [columns])?)?;
            let p = host::upload(self.a.gpu(), (&self.inverse * &v).as_ref())?;
            product(self.a, &p).beta(-1.0).run_into(&mut next)?;
            u = next;
            beta = columns_norms(&u)?;
            let mut next = self.back(&u)?;
            for (j, state) in states.iter_mut().enumerate() {
                scale_column(&mut next, j, reciprocal(beta[j]));
                for i in 0..rank {
                    next[(i, j)] -= beta[j] * v[(i, j)];
                }
                let alpha = normalise(&mut next, j);
                let [step, back] = state.rotate(alpha, beta[j]);
                for i in 0..rank {
                    z[(i, j)] += step * w[(i, j)];
                    w[(i, j)] = next[(i, j)] - back * w[(i, j)];
                }
            }
            v = next;
        }
        Ok((z, max_iterations))
    }
}

/// The scalars of LSQR for one right-hand side.
struct LsqrState {
    alpha: f64,
    rho_bar: f64,
    phi_bar: f64,
    /// The share of the residual in the range of A.
    left: f64,
}

impl LsqrState {
    /// Applies the rotation for the next bidiagonal entries. Returns the step of the solution along its direction, and
    /// the factor by which the old direction is subtracted from the next one.
    fn rotate(&mut self, alpha: f64, beta: f64) -> [f64; 2] {
        let rho = self.rho_bar.hypot(beta);
        let (c, s) = (self.rho_bar * reciprocal(rho), beta * reciprocal(rho));
        let (theta, phi) = (s * alpha, c * self.phi_bar);
        self.rho_bar = -c * alpha;
        self.phi_bar *= s;
        self.alpha = alpha;
        self.left = alpha * c.abs();
        [phi * reciprocal(rho), theta * reciprocal(rho)]
    }
}

/// 1 / x, or 0 for 0, so that a converged right-hand side does not change.
fn reciprocal(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { 1.0 / x }
}

fn scale_column(a: &mut Mat<f64>, j: usize, factor: f64) {
    a.col_mut(j).iter_mut().for_each(|x| *x *= factor);
}

/// Scales a column to norm 1 and returns its previous norm.
fn normalise(a: &mut Mat<f64>, j: usize) -> f64 {
    let norm = a.col(j).norm_l2();
    scale_column(a, j, reciprocal(norm));
    norm
}

/// The norms of the columns.
fn columns_norms(a: &Tensor<f32>) -> Result<Vec<f64>> {
    let squares = ops::sum_squares(a, 0)?.to_vec()?;
    Ok(squares.into_iter().map(|x| f64::from(x).sqrt()).collect())
}
