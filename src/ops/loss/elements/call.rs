//! The functions of the losses of elements.

use super::function::LossFunction;
use super::problem::{LossProblem, check_shapes};
use crate::error::Named;
use crate::gpu::View;
use crate::layout::Real;
use crate::ops::elementwise::Argument;
use crate::ops::loss::reduction::Reduction;
use crate::ops::loss::upstream::Upstream;
use crate::plan::Scalar;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// The squared error $(x - t)^2$ of each element, or their mean or sum.
///
/// One launch reads the elements. If there are more than a few thousand, a second one adds the sums of the workgroups.
///
/// # Shapes
/// `x` and `target` have one shape; any views of up to 6 axes. The result has no axes, or, without a reduction, the shape
/// of `x`.
/// # Errors
/// [`Error::Shape`] if `target` has another shape, or the mean is of no elements; [`Error::Gpu`] if the operands are on
/// different devices; [`Error::Limit`] if a tensor has $2^{31}$ elements or more; [`Error::OutOfMemory`] if the result
/// does not fit.
/// # Precision
/// Computed in f32 for every `T`, and added in a fixed order, so that equal calls return equal bits:
/// [`reference::LossReference`](crate::reference::LossReference). Squares beyond the range of f32 make the loss infinite; the
/// gradient stays finite.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops::{self, Reduction};
///
/// let (x, target) = (gpu.tensor(&[1.0f32, 2.0, 5.0], [3])?, gpu.tensor(&[1.0f32, 0.0, 1.0], [3])?);
/// assert_eq!(ops::mse(&x, &target, Reduction::Sum)?.to_vec()?, [20.0]);
/// assert_eq!(ops::mse(&x, &target, Reduction::None)?.to_vec()?, [0.0, 4.0, 16.0]);
/// # Ok(())
/// # }
/// ```
pub fn mse<T: Real>(x: &Tensor<T>, target: &Tensor<T>, reduction: Reduction) -> Result<Tensor<f32>> {
    Loss::new(LossFunction::Mse, reduction).run(x, target)
}

/// The loss of [`mse`], and the gradient of a final result with respect to `x`. `g` is the gradient of the final result
/// with respect to the loss: 1 if the loss is the result itself; a tensor of one element, or, without a reduction, of
/// the losses' shape.
///
/// The launches are those of [`mse`]: the launch that reads the elements also writes the gradient.
///
/// # Shapes
/// As [`mse`]; the gradient has the shape and type of `x`.
/// # Errors
/// As [`mse`]; [`Error::Shape`] if `g` is a tensor of another shape.
/// # Precision
/// As [`mse`]. Only the gradient is rounded to `T`.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops::{self, Reduction};
///
/// let (x, target) = (gpu.tensor(&[1.0f32, 2.0], [2])?, gpu.tensor(&[1.0f32, 0.0], [2])?);
/// let (loss, gradient) = ops::mse_and_gradient(&x, &target, Reduction::Mean, 1.0)?;
/// assert_eq!(loss.to_vec()?, [2.0]);
/// assert_eq!(gradient.to_vec()?, [0.0, 2.0]);
/// # Ok(())
/// # }
/// ```
pub fn mse_and_gradient<'a, T: Real>(
    x: &Tensor<T>,
    target: &Tensor<T>,
    reduction: Reduction,
    g: impl Into<Argument<'a, f32>>,
) -> Result<(Tensor<f32>, Tensor<T>)> {
    Loss::new(LossFunction::Mse, reduction).run_with_gradient(x, target, g.into())
}

/// The absolute error $|x - t|$ of each element, or their mean or sum.
///
/// # Shapes
/// As [`mse`].
/// # Errors
/// As [`mse`].
/// # Precision
/// As [`mse`].
pub fn l1<T: Real>(x: &Tensor<T>, target: &Tensor<T>, reduction: Reduction) -> Result<Tensor<f32>> {
    Loss::new(LossFunction::L1, reduction).run(x, target)
}

/// The loss of [`l1`], and its gradient, as [`mse_and_gradient`]. Where x is the target, the gradient is 0.
///
/// # Shapes
/// As [`mse_and_gradient`].
/// # Errors
/// As [`mse_and_gradient`].
/// # Precision
/// As [`mse_and_gradient`].
pub fn l1_and_gradient<'a, T: Real>(
    x: &Tensor<T>,
    target: &Tensor<T>,
    reduction: Reduction,
    g: impl Into<Argument<'a, f32>>,
) -> Result<(Tensor<f32>, Tensor<T>)> {
    Loss::new(LossFunction::L1, reduction).run_with_gradient(x, target, g.into())
}

/// Huber's loss of each element, or their mean or sum: $d^2 / 2$ with $d = x - t$ if $|d|$ is at most $\delta$, otherwise
/// $\delta (|d| - \delta / 2)$.
///
/// # Shapes
/// As [`mse`].
/// # Errors
/// As [`mse`]; [`Error::Input`] if `delta` is not positive and finite.
/// # Precision
/// As [`mse`].
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops::{self, Reduction};
///
/// let (x, target) = (gpu.tensor(&[1.0f32, 5.0], [2])?, gpu.zeros([2])?);
/// assert_eq!(ops::huber(&x, &target, 2.0, Reduction::None)?.to_vec()?, [0.5, 8.0]);
/// # Ok(())
/// # }
/// ```
pub fn huber<T: Real>(
    x: &Tensor<T>,
    target: &Tensor<T>,
    delta: f32,
    reduction: Reduction,
) -> Result<Tensor<f32>> {
    Loss { delta, ..Loss::new(LossFunction::Huber, reduction) }.run(x, target)
}

/// The loss of [`huber`], and its gradient, as [`mse_and_gradient`].
///
/// # Shapes
/// As [`mse_and_gradient`].
/// # Errors
/// As [`mse_and_gradient`] and [`huber`].
/// # Precision
/// As [`mse_and_gradient`].
pub fn huber_and_gradient<'a, T: Real>(
    x: &Tensor<T>,
    target: &Tensor<T>,
    delta: f32,
    reduction: Reduction,
    g: impl Into<Argument<'a, f32>>,
) -> Result<(Tensor<f32>, Tensor<T>)> {
    Loss { delta, ..Loss::new(LossFunction::Huber, reduction) }.run_with_gradient(x, target, g.into())
}

/// The cross-entropy of the sigmoid of each element with its target, a probability, or their mean or sum:
/// $(1 - t) \ln(1 + e^x) + w t \ln(1 + e^{-x})$, with weights w of the positive class, 1 without `pos_weight`.
///
/// # Shapes
/// As [`mse`]; `pos_weight` broadcasts to the shape of `x`.
/// # Errors
/// As [`mse`]; [`Error::Shape`] if `pos_weight` does not broadcast to the shape of `x`.
/// # Precision
/// As [`mse`]. There is no cancellation for targets from 0 to 1; other targets are allowed.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops::{self, Reduction};
///
/// let (x, target) = (gpu.tensor(&[0.0f32, 100.0], [2])?, gpu.tensor(&[1.0f32, 1.0], [2])?);
/// let loss = ops::bce_with_logits(&x, &target, None, Reduction::None)?.to_vec()?;
/// assert!((loss[0] - 0.693_147).abs() < 1e-6 && loss[1] == 0.0);
/// # Ok(())
/// # }
/// ```
pub fn bce_with_logits<T: Real>(
    x: &Tensor<T>,
    target: &Tensor<T>,
    pos_weight: Option<&Tensor<f32>>,
    reduction: Reduction,
) -> Result<Tensor<f32>> {
    Loss { weights: pos_weight, ..Loss::new(LossFunction::BceWithLogits, reduction) }.run(x, target)
}

/// The loss of [`bce_with_logits`], and its gradient, as [`mse_and_gradient`].
///
/// # Shapes
/// As [`mse_and_gradient`] and [`bce_with_logits`].
/// # Errors
/// As [`mse_and_gradient`] and [`bce_with_logits`].
/// # Precision
/// As [`mse_and_gradient`].
pub fn bce_with_logits_and_gradient<'a, T: Real>(
    x: &Tensor<T>,
    target: &Tensor<T>,
    pos_weight: Option<&Tensor<f32>>,
    reduction: Reduction,
    g: impl Into<Argument<'a, f32>>,
) -> Result<(Tensor<f32>, Tensor<T>)> {
    let loss = Loss { weights: pos_weight, ..Loss::new(LossFunction::BceWithLogits, reduction) };
    loss.run_with_gradient(x, target, g.into())
}

/// A loss with its options.
#[derive(Clone, Copy)]
struct Loss<'a> {
    function: LossFunction,
    reduction: Reduction,
    delta: f32,
    weights: Option<&'a Tensor<f32>>,
}

impl<'a> Loss<'a> {
    fn new(function: LossFunction, reduction: Reduction) -> Self {
        Self { function, reduction, delta: 1.0, weights: None }
    }

    fn run<T: Real>(&self, x: &Tensor<T>, target: &Tensor<T>) -> Result<Tensor<f32>> {
        self.compute(x, target).named(self.function.op())
    }

    fn run_with_gradient<T: Real>(
        &self,
        x: &Tensor<T>,
        target: &Tensor<T>,
        g: Argument<'_, f32>,
    ) -> Result<(Tensor<f32>, Tensor<T>)> {
        self.compute_with_gradient(x, target, g).named(self.function.op_with_gradient())
    }

    fn compute<T: Real>(&self, x: &Tensor<T>, target: &Tensor<T>) -> Result<Tensor<f32>> {
        self.check(x, target)?;
        if x.is_empty() {
            return self.of_nothing(x);
        }
        let numbers = [Scalar::F32(1.0), Scalar::F32(self.delta)];
        let operands = self.operands(x, target, None);
        let problem = self.problem(x, target)?;
        Tensor::computed(x.gpu(), &problem, &operands, &numbers, self.shape(x))
    }

    fn compute_with_gradient<T: Real>(
        &self,
        x: &Tensor<T>,
        target: &Tensor<T>,
        g: Argument<'_, f32>,
    ) -> Result<(Tensor<f32>, Tensor<T>)> {
        self.check(x, target)?;
        let upstream = Upstream::of(self.function.op(), x.gpu(), g, (self.reduction, x.shape()))?;
        if x.is_empty() {
            return Ok((self.of_nothing(x)?, x.gpu().empty(x.shape())?));
        }
        let problem = self.problem(x, target)?.with_gradient(upstream.layout().as_ref());
        let numbers = [Scalar::F32(upstream.number), Scalar::F32(self.delta)];
        let operands = self.operands(x, target, upstream.tensor.as_ref());
        let [loss, gradient] = x.gpu().compute(&problem, &operands, &numbers)?;
        Ok((Tensor::from_output(loss, self.shape(x))?, Tensor::from_output(gradient, x.shape())?))
    }

    fn check<T: Real>(&self, x: &Tensor<T>, target: &Tensor<T>) -> Result<()> {
        let op = self.function.op();
        x.same_gpu(op, target)?;
        if let Some(weights) = self.weights {
            x.same_gpu(op, weights)?;
        }
        check_shapes(op, [x.layout(), target.layout()], self.weights.map(Tensor::layout))?;
        if !(self.delta > 0.0 && self.delta.is_finite()) {
            let why = format!("it must be positive and finite, and is {}", self.delta);
            return Err(Error::input(format!("{op}: delta"), why));
        }
        if x.is_empty() && self.reduction == Reduction::Mean {
            return Err(Error::shape(
                op,
                "the mean of no elements does not exist, but `Reduction::Sum` is 0",
                x.shape(),
            ));
        }
        Ok(())
    }

    fn problem<T: Real>(&self, x: &Tensor<T>, target: &Tensor<T>) -> Result<LossProblem> {
        let layouts = [x.layout(), target.layout()];
        let weights = self.weights.map(Tensor::layout);
        Ok(LossProblem::new(self.function, layouts, weights, T::DTYPE)?.reduced(self.reduction))
    }

    fn operands<'b, T: Real>(
        &'b self,
        x: &'b Tensor<T>,
        target: &'b Tensor<T>,
        upstream: Option<&'b Tensor<f32>>,
    ) -> Vec<View<'b>> {
        let others = [self.weights, upstream].into_iter().flatten().map(Tensor::view);
        [x.view(), target.view()].into_iter().chain(others).collect()
    }

    /// The shape of the loss.
    fn shape<'x, T: Real>(&self, x: &'x Tensor<T>) -> &'x [usize] {
        if self.reduction == Reduction::None { x.shape() } else { &[] }
    }

    /// The result for no elements, if it is not a mean.
    fn of_nothing<T: Real>(&self, x: &Tensor<T>) -> Result<Tensor<f32>> {
        if self.reduction == Reduction::None { x.gpu().empty(x.shape()) } else { x.gpu().zeros([]) }
    }
}
