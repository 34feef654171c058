//! Linear least squares.

use super::cqrrpt::sketch_of;
use super::input::{self, Input};
use super::products::{matmul, product};
use super::small;
use crate::error::call;
use crate::layout::Element;
use crate::tensor::Tensor;
use crate::{Error, Result, ops};
use faer::Mat;

const OP: &str = "lstsq";

/// Rows of the sketch for each column of A: a convergence by half with every iteration.
const ROWS_PER_COLUMN: usize = 4;
/// Nonzeros of a column of the sketch.
const NONZEROS: usize = 8;
/// Times that an iteration begins again from the residual as it is, not as it was predicted.
const ROUNDS: usize = 2;

/// The least-squares solution $\min_{x} \lVert A x - b \rVert$, of several right-hand sides at once. [`Lstsq`] has the
/// options.
///
/// # Shapes
/// `a` (m, n), `b` (m) or (m, c) -> x (n) or (n, c).
/// # Errors
/// As [`Lstsq::run`].
/// # Precision
/// As [`Lstsq`].
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
    /// $\|Ax - b\|$ of every right-hand side.
    pub residuals: Vec<f64>,
    /// The numerical rank of A: where it is below n, x is the solution of the least norm. 0 without a right-hand side.
    pub rank: usize,
    /// Iterations, of all right-hand sides together.
    pub iterations: usize,
}

/// How a least-squares problem is solved: a sketch SA of 4 n rows is factored on the CPU in f64, its triangle makes A
/// well conditioned, whatever A is, and LSQR (Paige and Saunders, 1982) takes few iterations from the solution of the
/// sketched problem (Rokhlin and Tygert, 2008; Epperly, 2024). Products with A and $A^T$ are the device's; what is n
/// long is the CPU's, in f64. The numerical rank, and with it the least norm, are those of the sketch (Meng, Saunders
/// and Mahoney, 2014).
///
/// # Precision
/// Products are in f32: the residual exceeds the least by no more than about $10^{-6} (\|A\|\|x\| + \|b\|)$, and x is
/// as far off as that lets it be, $10^{-6}$ times the condition number of A at the most likely.
#[derive(Clone, Debug)]
#[must_use = "a problem is solved by `run`"]
pub struct Lstsq<'a> {
    a: &'a Tensor<f32>,
    b: &'a Tensor<f32>,
    seed: u64,
    tolerance: f64,
    rank_tolerance: f64,
    iterations: usize,
}

impl<'a> Lstsq<'a> {
    /// The problem of `a` (m, n) and `b` (m) or (m, c).
    pub fn new(a: &'a Tensor<f32>, b: &'a Tensor<f32>) -> Self {
        Self { a, b, seed: 0, tolerance: 1e-6, rank_tolerance: 1e-6, iterations: 100 }
    }

    /// The seed of the sketch: 0 unless said otherwise.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Ends where the residual's share in the range of A is below this, or the residual is below this times $\|b\|$:
    /// $10^{-6}$ unless said otherwise.
    pub fn tolerance(mut self, relative: f64) -> Self {
        self.tolerance = relative;
        self
    }

    /// Singular values of the sketch below this times the largest count as 0: $10^{-6}$ unless said otherwise, about
    /// what rounding leaves of a matrix of f32.
    pub fn rank_tolerance(mut self, relative: f64) -> Self {
        self.rank_tolerance = relative;
        self
    }

    /// The most iterations: 100 unless said otherwise. What there is then is the result.
    pub fn iterations(mut self, most: usize) -> Self {
        self.iterations = most;
        self
    }

    /// Solves the problem.
    ///
    /// # Shapes
    /// A (m, n), b (m) or (m, c) -> x (n) or (n, c); of m < n it is the solution of the least norm.
    /// # Errors
    /// [`Error::Shape`] if A is no matrix with rows and columns, or b has not as many rows; [`Error::Gpu`] if they live
    /// on different devices; [`Error::Input`] if an entry is NaN or infinite, with its place, or a tolerance is not
    /// between 0 and 1; [`Error::Limit`], [`Error::OutOfMemory`] without room.
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
            let (a, b) = (Input::new(OP, self.a)?, Input::named(OP, "the right-hand side", &b)?);
            let solver = Solver::new(self, &a.a, &b.a)?;
            let (x, norms, iterations) = solver.solve(self)?;
            let scale = b.scale / a.scale;
            let x = Mat::from_fn(n, x.ncols(), |i, j| x[(i, j)] * scale);
            let x = small::upload(gpu, x.as_ref())?.reshape(shape)?;
            let residuals = norms.into_iter().map(|norm| norm * b.scale).collect();
            Ok(LeastSquares { x, residuals, rank: solver.inverse.ncols(), iterations })
        })
    }
}

/// A problem with a matrix N of which AN has nearly orthonormal columns.
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
        let pivoted = small::pivoted_qr(sa.as_ref());
        if pivoted.rank(options.rank_tolerance) == n {
            let inverse = pivoted.inverse(n);
            return Ok(Self { a, b, inverse, start: pivoted.q().transpose() * sb });
        }
        let svd = small::svd(sa.as_ref())?;
        let rank = svd.s.iter().take_while(|&&s| s > options.rank_tolerance * svd.s[0]).count();
        let inverse = Mat::from_fn(n, rank, |i, j| svd.v[(i, j)] / svd.s[j]);
        Ok(Self { a, b, inverse, start: svd.u.get(.., ..rank).transpose() * sb })
    }

    /// The solution, the norms of its residuals, and how many iterations there were.
    fn solve(&self, options: &Lstsq<'_>) -> Result<(Mat<f64>, Vec<f64>, usize)> {
        let enough: Vec<f64> = columns_norms(self.b)?.iter().map(|b| b * options.tolerance).collect();
        let mut x = &self.inverse * &self.start;
        let mut iterations = 0;
        for _ in 0..ROUNDS {
            let (residual, norms) = self.residual(&x)?;
            let most = options.iterations - iterations;
            let (z, taken) = self.lsqr(residual, norms, &enough, options.tolerance, most)?;
            x += &self.inverse * z;
            iterations += taken;
            if taken == 0 {
                break;
            }
        }
        let (_, norms) = self.residual(&x)?;
        Ok((x, norms, iterations))
    }

    /// b - Ax, and the norms of its columns.
    fn residual(&self, x: &Mat<f64>) -> Result<(Tensor<f32>, Vec<f64>)> {
        let one = self.a.gpu().tensor(&[1.0f32], [])?;
        let mut residual = ops::mul(self.b, &one)?; // a copy
        let x = small::upload(self.a.gpu(), x.as_ref())?;
        product(self.a, &x).alpha(-1.0).beta(1.0).run_into(&mut residual)?;
        let norms = columns_norms(&residual)?;
        Ok((residual, norms))
    }

    /// $N^T A^T u$.
    fn back(&self, u: &Tensor<f32>) -> Result<Mat<f64>> {
        Ok(self.inverse.transpose() * small::download(&matmul(&self.a.t(), u)?)?)
    }

    /// z of $\min \lVert A N z - r \rVert$ by LSQR, each column for itself, and how many iterations there were. `u` is
    /// r, not yet normalised, as it stays on the device.
    fn lsqr(
        &self,
        mut u: Tensor<f32>,
        mut beta: Vec<f64>,
        enough: &[f64],
        tolerance: f64,
        most: usize,
    ) -> Result<(Mat<f64>, usize)> {
        let (rank, columns) = (self.inverse.ncols(), beta.len());
        let mut z = Mat::zeros(rank, columns);
        let mut v = self.back(&u)?;
        let mut lines: Vec<Line> = (0..columns)
            .map(|j| {
                scale_column(&mut v, j, reciprocal(beta[j]));
                let alpha = normalise(&mut v, j);
                Line { alpha, rho_bar: alpha, phi_bar: beta[j], left: alpha }
            })
            .collect();
        let mut w = v.clone();
        for iteration in 0..most {
            let done = |(line, &enough): (&Line, &f64)| line.left <= tolerance || line.phi_bar <= enough;
            if lines.iter().zip(enough).all(done) {
                return Ok((z, iteration));
            }
            // u, of norm beta before, becomes A N v - alpha u / beta.
            let shares: Vec<f32> = lines
                .iter()
                .zip(&beta)
                .map(|(line, &beta)| f32::from_f64(line.alpha * reciprocal(beta)))
                .collect();
            let mut next = ops::mul(&u, &self.a.gpu().tensor(&shares, [columns])?)?;
            let p = small::upload(self.a.gpu(), (&self.inverse * &v).as_ref())?;
            product(self.a, &p).beta(-1.0).run_into(&mut next)?;
            u = next;
            beta = columns_norms(&u)?;
            let mut next = self.back(&u)?;
            for (j, line) in lines.iter_mut().enumerate() {
                scale_column(&mut next, j, reciprocal(beta[j]));
                for i in 0..rank {
                    next[(i, j)] -= beta[j] * v[(i, j)];
                }
                let alpha = normalise(&mut next, j);
                let [step, turn] = line.rotate(alpha, beta[j]);
                for i in 0..rank {
                    z[(i, j)] += step * w[(i, j)];
                    w[(i, j)] = next[(i, j)] - turn * w[(i, j)];
                }
            }
            v = next;
        }
        Ok((z, most))
    }
}

/// The scalars of one right-hand side.
struct Line {
    alpha: f64,
    rho_bar: f64,
    phi_bar: f64,
    /// The share of the residual that lies in the range of A.
    left: f64,
}

impl Line {
    /// Takes the next bidiagonal entries: how far the solution goes along its direction, and how much of that the next
    /// one gives up.
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

/// 0 for 0: what has ended stays where it is.
fn reciprocal(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { 1.0 / x }
}

fn scale_column(a: &mut Mat<f64>, j: usize, factor: f64) {
    a.col_mut(j).iter_mut().for_each(|x| *x *= factor);
}

/// Makes a column one of norm 1, and says what its norm was.
fn normalise(a: &mut Mat<f64>, j: usize) -> f64 {
    let norm = a.col(j).norm_l2();
    scale_column(a, j, reciprocal(norm));
    norm
}

/// Norms of the columns.
fn columns_norms(a: &Tensor<f32>) -> Result<Vec<f64>> {
    let squares = ops::sum_squares(a, 0)?.to_vec()?;
    Ok(squares.into_iter().map(|x| f64::from(x).sqrt()).collect())
}
