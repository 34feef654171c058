//! The search for a block of the range: a block Lanczos bidiagonalisation.

use super::device::{matmul, product};
use super::host;
use super::orthogonal::orthogonalise;
use super::timings::{TimedPart, Timings};
use crate::Result;
use crate::progress::Steps;
use crate::sketch::operator::{Sketch, SketchKind};
use crate::tensor::Tensor;
use faer::Mat;

/// A direction counts as new if its norm is larger than this, relative to the largest. Smaller ones are rounding
/// errors.
const NEW: f64 = 1.0 / (1 << 20) as f64;

/// The random combinations with which a search begins, and the number of its power iterations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search {
    pub(super) kind: SketchKind,
    pub(super) seed: u64,
    pub(super) power: usize,
}

impl Search {
    /// A block of orthonormal columns whose span contains most of `a`, orthogonal to the earlier blocks. Block 0 is
    /// drawn with the seed itself.
    pub(super) fn block(
        &self,
        op: &'static str,
        a: &Tensor<f32>,
        earlier: &[Tensor<f32>],
        columns: usize,
        timings: &mut Timings,
    ) -> Result<Tensor<f32>> {
        let [rows, cols] = [a.shape()[0], a.shape()[1]];
        let orthonormal = |panel: &Tensor<f32>, timings: &mut Timings| {
            let panel = timings.measure(TimedPart::Products, || host::download(panel))?;
            timings.measure(TimedPart::Small, || host::upload(a.gpu(), host::qr(panel.as_ref()).0.as_ref()))
        };
        if columns == cols && earlier.is_empty() {
            // If as many columns are wanted as the matrix has, its own columns span its range.
            return orthonormal(a, timings);
        }
        let steps = Steps::of(op, self.power.saturating_add(2));
        steps.at(0, "the first products")?;
        // Each block has its own seed. The odd multiplier keeps the seeds of blocks apart.
        let seed = self.seed.wrapping_add((earlier.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        // The Krylov space is built on the shorter side, where it is cheaper and can become complete. Without
        // iterations it is built on the side of the columns, because a space on the side of the rows would not depend
        // on the matrix.
        let wide = cols > rows && self.power > 0;
        let (side, short) = if wide { (a.t(), rows) } else { (a.clone(), cols) };
        let start = timings.measure(TimedPart::Sketches, || {
            let entries = Sketch::new(self.kind, [columns, short], seed)?.to_vec();
            let combinations = Mat::from_fn(short, columns, |i, j| f64::from(entries[j * short + i]));
            Ok(host::qr(combinations.as_ref()).0)
        })?;
        let mut space = Krylov::new(&side, start, timings)?;
        for power in 1..=self.power {
            steps.at(power, format_args!("power iteration {power} of {}", self.power))?;
            let next = if power < self.power { Next::Follows } else { Next::None };
            if space.grow(&side, rows.min(cols), next, timings)? == Growth::Complete {
                break;
            }
        }
        steps.at(self.power + 1, "orthonormal columns")?;
        let q = if wide {
            timings.measure(TimedPart::Small, || host::upload(a.gpu(), space.leading(columns)?.as_ref()))?
        } else if space.triangle.ncols() == columns {
            space.left
        } else {
            let leading = timings.measure(TimedPart::Small, || space.leading(columns))?;
            let panel = timings
                .measure(TimedPart::Products, || matmul(a, &host::upload(a.gpu(), leading.as_ref())?))?;
            orthonormal(&panel, timings)?
        };
        let q = if earlier.is_empty() { q } else { orthogonalise(op, q, earlier, seed, timings)? };
        steps.end()?;
        Ok(q)
    }
}

/// Whether a Krylov space grows again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Follows,
    None,
}

/// Whether a Krylov space has grown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Growth {
    Grown,
    /// There are no new directions.
    Complete,
}

/// The space of $P, A^TA P, (A^TA)^2 P, \ldots$, with $A K = Q T$: K are orthonormal columns, a block for each power. T
/// is block bidiagonal, because a block of Q is orthogonalised against the block before it.
struct Krylov {
    /// K, (n, L).
    basis: Mat<f64>,
    /// The last block of Q that a further power needs.
    left: Tensor<f32>,
    /// T, (L, L).
    triangle: Mat<f64>,
}

impl Krylov {
    fn new(a: &Tensor<f32>, start: Mat<f64>, timings: &mut Timings) -> Result<Self> {
        let panel = timings.measure(TimedPart::Products, || {
            host::download(&matmul(a, &host::upload(a.gpu(), start.as_ref())?)?)
        })?;
        timings.measure(TimedPart::Small, || {
            let (q, triangle) = host::qr(panel.as_ref());
            Ok(Self { basis: start, left: host::upload(a.gpu(), q.as_ref())?, triangle })
        })
    }

    /// Adds the next power to the space, whose size is at most `full`. If none follows, its block of Q is not computed.
    fn grow(&mut self, a: &Tensor<f32>, full: usize, next: Next, timings: &mut Timings) -> Result<Growth> {
        let size = self.basis.ncols();
        let back = timings.measure(TimedPart::Products, || host::download(&matmul(&a.t(), &self.left)?))?;
        let outside = timings.measure(TimedPart::Small, || {
            // Once is enough in f64: the remaining part in the basis is far below the rounding of the columns to f32.
            let share = self.basis.transpose() * &back;
            Ok(host::pivoted_qr((back - &self.basis * share).as_ref()))
        })?;
        let largest = self.triangle.norm_max();
        let new = outside.leading(NEW * largest).min(full - size);
        if new == 0 {
            return Ok(Growth::Complete);
        }
        let block = outside.q().get(.., ..new).to_owned();
        // $A^T Q_j = K (\ldots) + P S$, so the share of $A P$ in $Q_j$ is $S^T$.
        let share = outside.unpermuted(new).transpose().to_owned();
        let panel = timings.measure(TimedPart::Products, || {
            let mut panel = matmul(a, &host::upload(a.gpu(), block.as_ref())?)?;
            let share = host::upload(a.gpu(), share.as_ref())?;
            product(&self.left, &share).alpha(-1.0).beta(1.0).run_into(&mut panel)?;
            host::download(&panel)
        })?;
        timings.measure(TimedPart::Small, || {
            let r = match next {
                Next::Follows => {
                    let (q, r) = host::qr(panel.as_ref());
                    self.left = host::upload(a.gpu(), q.as_ref())?;
                    r
                }
                Next::None => host::triangle(panel.as_ref()),
            };
            let mut triangle = Mat::zeros(size + new, size + new);
            triangle.get_mut(..size, ..size).copy_from(&self.triangle);
            triangle.get_mut(size - share.nrows()..size, size..).copy_from(&share);
            triangle.get_mut(size.., size..).copy_from(&r);
            let mut basis = Mat::zeros(self.basis.nrows(), size + new);
            basis.get_mut(.., ..size).copy_from(&self.basis);
            basis.get_mut(.., size..).copy_from(&block);
            (self.basis, self.triangle) = (basis, triangle);
            Ok(Growth::Grown)
        })
    }

    /// The directions of the space in which A is largest: (n, columns).
    fn leading(&self, columns: usize) -> Result<Mat<f64>> {
        Ok(&self.basis * host::leading_eigenvectors(&(self.triangle.transpose() * &self.triangle), columns)?)
    }
}
