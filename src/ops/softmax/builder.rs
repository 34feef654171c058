//! A softmax with a mask and a scale.

use super::function::SoftmaxFunction;
use super::problem::SoftmaxProblem;
use crate::Result;
use crate::error::call;
use crate::layout::Real;
use crate::plan::Scalar;
use crate::tensor::Tensor;

/// A softmax of $s x + m$ along an axis, with a scale $s$ and a mask $m$ that is added. [`softmax`](super::softmax) has neither.
///
/// An element with a mask of $-\infty$ becomes 0, and $-\infty$ in the logarithm. If all elements of a row are masked, the
/// row becomes NaN, as in `PyTorch`.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops::Softmax;
///
/// let scores = gpu.tensor(&[8.0f32, 8.0, 8.0, 8.0], [2, 2])?;
/// let causal = gpu.tensor(&[0.0f32, f32::NEG_INFINITY, 0.0, 0.0], [2, 2])?;
/// let weights = Softmax::new(&scores, 1).scale(0.125).mask(&causal).run()?;
/// assert_eq!(weights.to_vec()?, [1.0, 0.0, 0.5, 0.5]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "a softmax is computed by `run`"]
pub struct Softmax<'a, T: Real> {
    x: &'a Tensor<T>,
    axis: usize,
    mask: Option<&'a Tensor<T>>,
    scale: f32,
}

impl<'a, T: Real> Softmax<'a, T> {
    /// The softmax of `x` along an axis.
    pub fn new(x: &'a Tensor<T>, axis: usize) -> Self {
        Self { x, axis, mask: None, scale: 1.0 }
    }

    /// Adds `mask` to the scaled elements. It broadcasts to the shape of `x`, and may have any strides.
    pub fn mask(self, mask: &'a Tensor<T>) -> Self {
        Self { mask: Some(mask), ..self }
    }

    /// Multiplies `x` by a number.
    pub fn scale(self, scale: f32) -> Self {
        Self { scale, ..self }
    }

    /// Computes the softmax, in one launch.
    ///
    /// # Shapes
    /// As [`softmax`](super::softmax).
    /// # Errors
    /// As [`softmax`](super::softmax); [`Error::Shape`](crate::Error::Shape) if the mask does not broadcast to the shape of `x`;
    /// [`Error::Gpu`](crate::Error::Gpu) if it is on another device.
    /// # Precision
    /// [`reference::SoftmaxReference`](crate::reference::SoftmaxReference).
    pub fn run(self) -> Result<Tensor<T>> {
        self.compute(SoftmaxFunction::Softmax)
    }

    /// Computes the logarithm of the softmax, in one launch.
    ///
    /// # Shapes
    /// As [`softmax`](super::softmax).
    /// # Errors
    /// As [`run`](Self::run).
    /// # Precision
    /// [`reference::SoftmaxReference`](crate::reference::SoftmaxReference).
    pub fn run_log(self) -> Result<Tensor<T>> {
        self.compute(SoftmaxFunction::LogSoftmax)
    }

    fn compute(self, function: SoftmaxFunction) -> Result<Tensor<T>> {
        let Self { x, axis, mask, scale } = self;
        call(function.op(), || {
            let m = mask.map(Tensor::layout);
            function.check(x.layout(), m, axis)?;
            let gpu = match mask {
                Some(mask) => x.same_gpu(function.op(), mask)?,
                None => x.gpu(),
            };
            if x.is_empty() {
                return gpu.empty(x.shape());
            }
            let problem = SoftmaxProblem::new(function, x.layout(), m, axis, T::DTYPE)?;
            let mut views = vec![x.view()];
            views.extend(mask.map(Tensor::view));
            Tensor::computed(gpu, &problem, &views, &[Scalar::F32(scale)], x.shape())
        })
    }
}
