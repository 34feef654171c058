//! Stochastic estimates of a trace.

use super::device::largest;
use super::input;
use crate::error::call;
use crate::progress::Steps;
use crate::sketch::{Scaling, Sketch, SketchKind};
use crate::tensor::Tensor;
use crate::{Error, Result};

const OP: &str = "trace";

/// An estimate of a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceEstimate {
    /// The estimate.
    pub value: f64,
    /// The standard error of the estimate, computed from the samples. It is reliable from about 30 samples on: then the
    /// estimate is within four standard errors in all but a few of ten thousand cases.
    pub standard_error: f64,
}

/// Estimates the trace of a square matrix from products with random signs (Hutchinson, 1990): the mean of $z^T A z$
/// over `samples` sign vectors z, which the kernels generate.
///
/// # Shapes
/// `a` (n, n), in any strides.
/// # Errors
/// [`Error::Shape`] if A is not a square matrix with rows; [`Error::Input`] if there are fewer than two samples,
/// because they have no standard error, or if an entry (with its index) or a sample is NaN or infinite;
/// [`Error::OutOfMemory`] or [`Error::Limit`] if `samples` columns do not fit; [`Error::Cancelled`] in
/// [`with_progress`](crate::with_progress).
/// # Precision
/// The estimate is unbiased. Its variance is $2 \sum_{i \ne j} (a_{ij}^2 + a_{ij} a_{ji}) / 2$ divided by the number of
/// samples, which is 0 for a diagonal matrix. Products are in f32, which adds an error of at most
/// $2 \gamma_{n + 1} \sum_{ij} |a_{ij}|$.
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
            return Err(Error::input(
                "trace: samples",
                format!("must be at least 2 for a standard error; got {samples}"),
            ));
        }
        let steps = Steps::of(OP, 3);
        steps.at(0, "checking the matrix")?;
        largest(OP, "the matrix", &a.contiguous()?)?;
        steps.at(1, "products")?;
        let signs = Sketch::new(SketchKind::Sign, [samples, rows], seed)?.scaled(Scaling::Unscaled);
        let left = signs.left(a)?;
        steps.at(2, "samples")?;
        let products = signs.right(&left)?; // Z A Z^T; the samples are its diagonal
        let diagonal = products.as_strided(&[samples], &[samples + 1], 0)?.to_vec()?;
        steps.end()?;
        if let Some(at) = diagonal.iter().position(|x| !x.is_finite()) {
            let why = format!("sample {at} is {}: the entries are too large for f32 sums", diagonal[at]);
            return Err(Error::input("trace: the matrix", why));
        }
        let s = samples as f64;
        let value = diagonal.iter().map(|&x| f64::from(x)).sum::<f64>() / s;
        let variance = diagonal.iter().map(|&x| (f64::from(x) - value).powi(2)).sum::<f64>() / (s - 1.0);
        Ok(TraceEstimate { value, standard_error: (variance / s).sqrt() })
    })
}
