//! Traces of matrices that are only multiplied.

use super::input;
use crate::error::call;
use crate::sketch::{Scaling, Sketch, SketchKind};
use crate::tensor::Tensor;
use crate::{Error, Result};

const OP: &str = "trace";

/// An estimate of a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceEstimate {
    /// The estimate.
    pub value: f64,
    /// Its standard error, from the samples, which have to be some thirty for it to be told well: of so many, the
    /// estimate is within four of these but for a few times in ten thousand.
    pub standard_error: f64,
}

/// The trace of a square matrix from products with random signs (Hutchinson, 1990): the mean of $z^T A z$ over
/// `samples` vectors z of signs, which are made where they are used.
///
/// # Shapes
/// `a` (n, n), any view.
/// # Errors
/// [`Error::Shape`] if A is no square matrix with rows; [`Error::Input`] for fewer than two samples, of which there is
/// no standard error, if an entry is NaN or infinite, with its place, and if a sample is; [`Error::OutOfMemory`],
/// [`Error::Limit`] without room for
/// `samples` columns.
/// # Precision
/// Unbiased. The variance is $2 \sum_{i \ne j} (a_{ij}^2 + a_{ij} a_{ji}) / 2$ over the number of samples: a diagonal
/// matrix has none. Products are in f32, which adds at most $2 \gamma_{n + 1} \sum_{ij} |a_{ij}|$.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let diagonal: Vec<f32> = (0..100).map(|i| if i % 11 == 0 { 2.0 } else { 0.0 }).collect();
/// let a = gpu.tensor(&diagonal, [10, 10])?;
/// let found = tilewise::sketch::trace(&a, 16, 1)?;
/// assert!((found.value - 20.0).abs() < 1e-4);
/// # Ok(())
/// # }
/// ```
pub fn trace(a: &Tensor<f32>, samples: usize, seed: u64) -> Result<TraceEstimate> {
    call("trace", || {
        let [rows, cols] = input::shape(OP, a)?;
        if rows != cols {
            return Err(Error::shape(OP, "the matrix must be square", a.shape()));
        }
        if samples < 2 {
            return Err(Error::input("trace: samples", "two are the fewest that tell how far off they are"));
        }
        input::largest(OP, "the matrix", &a.contiguous()?)?;
        let signs = Sketch::new(SketchKind::Sign, [samples, rows], seed)?.scaled(Scaling::Unscaled);
        let products = signs.right(&signs.left(a)?)?; // Z A Z^T, of which the diagonal matters
        let diagonal = products.as_strided(&[samples], &[samples + 1], 0)?.to_vec()?;
        if let Some(at) = diagonal.iter().position(|x| !x.is_finite()) {
            let why = format!("sample {at} is {}: entries are too large", diagonal[at]);
            return Err(Error::input("trace: the matrix", why));
        }
        let s = samples as f64;
        let value = diagonal.iter().map(|&x| f64::from(x)).sum::<f64>() / s;
        let variance = diagonal.iter().map(|&x| (f64::from(x) - value).powi(2)).sum::<f64>() / (s - 1.0);
        Ok(TraceEstimate { value, standard_error: (variance / s).sqrt() })
    })
}
