//! A matrix as a product of orthonormal columns, found block by block, and the rest.

use super::device::{matmul, norm, product};
use super::host::{self, SmallSvd};
use super::orthogonal::assured;
use super::timings::{TimedPart, Timings};
use crate::tensor::Tensor;
use crate::{Result, ops};
use faer::Mat;

/// The blocks so far: $A = QB + \mathrm{rest}$.
pub(super) struct Blocks {
    pub(super) rest: Tensor<f32>,
    /// Norm of the rest.
    pub(super) left: f64,
    pub(super) columns: usize,
    pub(super) q: Vec<Tensor<f32>>,
    b: Vec<Mat<f64>>,
}

impl Blocks {
    /// No blocks: the rest is the matrix, of this norm.
    pub(super) fn new(a: Tensor<f32>, norm: f64) -> Self {
        Self { rest: a, left: norm, columns: 0, q: Vec::new(), b: Vec::new() }
    }

    /// Adds a block of columns: subtracts its projection from the rest.
    pub(super) fn add(&mut self, q: Tensor<f32>, timings: &mut Timings) -> Result<()> {
        let b = timings.measure(TimedPart::Products, || {
            let b = matmul(&q.t(), &self.rest)?;
            product(&q, &b).alpha(-1.0).beta(1.0).run_into(&mut self.rest)?;
            self.left = norm(&self.rest)?;
            host::download(&b)
        })?;
        self.columns += b.nrows();
        self.q.push(q);
        self.b.push(b);
        Ok(())
    }

    /// The decomposition of B, by way of the triangle of $B^T$.
    pub(super) fn svd(&self) -> Result<SmallSvd> {
        let n = self.rest.shape()[1];
        let mut transposed = Mat::zeros(n, self.columns);
        let mut at = 0;
        for b in &self.b {
            transposed.get_mut(.., at..at + b.nrows()).copy_from(b.transpose());
            at += b.nrows();
        }
        let (q, r) = host::qr(transposed.as_ref());
        let svd = host::svd(r.transpose())?;
        Ok(SmallSvd { v: q * &svd.v, ..svd })
    }

    /// The norms of the products of the rest with the leading right singular vectors: the part outside the span of Q.
    pub(super) fn outside(&self, v: &Mat<f64>, count: usize) -> Result<Vec<f64>> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let v = host::upload(self.rest.gpu(), v.get(.., ..count))?;
        let squares = ops::sum_squares(&matmul(&self.rest, &v)?, 0)?.to_vec()?;
        Ok(squares.into_iter().map(|x| f64::from(x).sqrt()).collect())
    }

    /// Q times the leading columns of a small orthogonal matrix: orthonormal up to an error of `allowed`.
    pub(super) fn combined(&self, u: &Mat<f64>, rank: usize, allowed: f64) -> Result<Tensor<f32>> {
        let gpu = self.rest.gpu();
        if rank == 0 {
            return gpu.empty([self.rest.shape()[0], 0]);
        }
        let mut combined = gpu.zeros([self.rest.shape()[0], rank])?;
        let mut at = 0;
        for q in &self.q {
            let columns = q.shape()[1];
            let part = host::upload(gpu, u.get(at..at + columns, ..rank))?;
            product(q, &part).beta(1.0).run_into(&mut combined)?;
            at += columns;
        }
        assured(combined, allowed)
    }
}
