//! The functions and the builder of the cross-entropy.

use super::problem::{CrossEntropyProblem, IgnoredClass, OP, check_shapes};
use super::targets::Targets;
use crate::error::call;
use crate::gpu::{Allocation, View};
use crate::layout::Real;
use crate::ops::elementwise::Argument;
use crate::ops::loss::reduction::Reduction;
use crate::ops::loss::upstream::Upstream;
use crate::plan::Scalar;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// The mean cross-entropy of logits with targets. With options: [`CrossEntropy`].
///
/// # Shapes
/// `logits` (..., classes); `targets` are classes (...) in i32, or probabilities (..., classes) -> a tensor of no axes.
/// # Errors
/// As [`CrossEntropy::run`].
/// # Precision
/// As [`CrossEntropy::run`].
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops;
///
/// let logits = gpu.tensor(&[0.0f32, 0.0, 3.0, 0.0], [2, 2])?;
/// let targets = gpu.tensor(&[1, 0], [2])?;
/// let loss = ops::cross_entropy(&logits, &targets)?.to_vec()?[0];
/// assert!((loss - (0.693_147 + 0.048_587) / 2.0).abs() < 1e-5);
/// # Ok(())
/// # }
/// ```
pub fn cross_entropy<'a, T: Real>(
    logits: &Tensor<T>,
    targets: impl Into<Targets<'a, T>>,
) -> Result<Tensor<f32>> {
    Ok(CrossEntropy::new().run(logits, targets)?.loss)
}

/// The mean cross-entropy of logits with targets, and its gradient with respect to the logits, which has their shape and
/// type. With options: [`CrossEntropy`].
///
/// # Shapes
/// As [`cross_entropy`].
/// # Errors
/// As [`CrossEntropy::run`].
/// # Precision
/// As [`CrossEntropy::run`].
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let logits = gpu.tensor(&[0.0f32, 0.0], [1, 2])?;
/// let (_, gradient) = tilewise::ops::cross_entropy_and_gradient(&logits, &gpu.tensor(&[1], [1])?)?;
/// assert_eq!(gradient.to_vec()?, [0.5, -0.5]);
/// # Ok(())
/// # }
/// ```
pub fn cross_entropy_and_gradient<'a, T: Real>(
    logits: &Tensor<T>,
    targets: impl Into<Targets<'a, T>>,
) -> Result<(Tensor<f32>, Tensor<T>)> {
    let (loss, gradient) = CrossEntropy::new().run_with_gradient(logits, targets, 1.0)?;
    Ok((loss.loss, gradient))
}

/// Cross-entropy with options. Set them, then call [`run`](Self::run) or [`run_with_gradient`](Self::run_with_gradient).
///
/// The loss of a row with logits x is $-\sum_{c} w_{c} q_{c} \ln p_{c}$ with $p = \mathrm{softmax}(x)$, the weights w of the
/// classes (1 unless set), and the probabilities q of the target: $q = (1 - \varepsilon)\\,t + \varepsilon / C$ with the
/// label smoothing $\varepsilon$ (0 unless set), C classes, and t the given probabilities, or 1 for the given class and 0
/// for the others.
///
/// The mean over rows whose targets are classes is the sum of the losses divided by the sum of the targets' weights, as in
/// PyTorch; over rows whose targets are probabilities it is divided by the number of rows. Ignored rows count in neither
/// sum, and their gradient is 0. If all rows are ignored, or the weights of all targets are 0, the mean and its gradient are
/// 0, even with label smoothing (`PyTorch` returns NaN for the mean, and gradients of NaN or 0).
///
/// If a target is no class of the logits and is not ignored, the loss and gradient of its row are NaN, and so is the mean or sum. A
/// class of probability 0 does not affect the loss, even if its logit is $-\infty$ (`PyTorch` returns NaN for probabilities). If
/// the logit of a class with a probability above 0 is $-\infty$, the loss is infinite and the gradient finite, as in `PyTorch`.
/// With label smoothing all classes have a probability above 0. A row with a NaN or $+\infty$, or of $-\infty$ only, has a loss of
/// NaN.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::{Fill, ops};
///
/// let logits = gpu.random::<f32>([4, 10], Fill::Uniform, 1)?;
/// let targets = gpu.tensor(&[3, -100, 0, 9], [4])?; // the second row does not count
/// let entropy = ops::CrossEntropy::new().ignore_index(-100).label_smoothing(0.1);
/// let (found, gradient) = entropy.run_with_gradient(&logits, &targets, 1.0)?;
/// assert!(found.loss.to_vec()?[0] > 0.0);
/// assert_eq!(found.log_sums.shape(), [4]);
/// assert_eq!(gradient.slice(0, 1..2)?.to_vec()?, [0.0; 10]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[must_use = "a loss is computed by `run`"]
pub struct CrossEntropy<'a> {
    weights: Option<&'a Tensor<f32>>,
    smoothing: f32,
    ignored: Option<i32>,
    reduction: Reduction,
}

/// The result of [`CrossEntropy::run`].
#[derive(Clone, Debug)]
pub struct CrossEntropyLoss {
    /// The mean or the sum, a tensor of no axes, or the loss of each row: the logits' shape without the last axis.
    pub loss: Tensor<f32>,
    /// $\ln \sum_{c} e^{x_{c}}$ of each row, of the logits' shape without the last axis.
    pub log_sums: Tensor<f32>,
}

impl<'a> CrossEntropy<'a> {
    /// The mean, without weights, smoothing or ignored rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a weight for each class: a vector (classes).
    pub fn class_weights(self, weights: &'a Tensor<f32>) -> Self {
        Self { weights: Some(weights), ..self }
    }

    /// Sets the part of each target that is spread evenly over all classes, from 0 to 1.
    pub fn label_smoothing(self, smoothing: f32) -> Self {
        Self { smoothing, ..self }
    }

    /// Ignores rows with this target, which need not be a class.
    pub fn ignore_index(self, class: i32) -> Self {
        Self { ignored: Some(class), ..self }
    }

    /// Sets the result for several rows: mean, sum, or each loss.
    pub fn reduction(self, reduction: Reduction) -> Self {
        Self { reduction, ..self }
    }

    /// Computes the loss.
    ///
    /// One launch reads the logits. For a mean or sum, a second one adds the losses of the rows, in a fixed order. For a mean with
    /// weights or ignored rows, an earlier launch adds the weights of the targets. If the targets are a view with gaps, they are
    /// copied first.
    ///
    /// This needs a device with 7 storage bindings, and 8 with the gradient. On devices with fewer bindings (at least 4),
    /// another launch computes the gradient, and up to five more copy operands and results. The results have the same bits.
    ///
    /// # Shapes
    /// `logits` (..., classes), any view of up to 6 axes; targets (...), or (..., classes) if they are probabilities.
    /// # Errors
    /// [`Error::Shape`] if targets or weights have another shape, there is no class, or the mean is of no rows; [`Error::Input`]
    /// if the label smoothing is not from 0 to 1, or a class is to be ignored and the targets are probabilities; [`Error::Gpu`] if
    /// the operands are on different devices; [`Error::Limit`] if the elements that one launch needs together, such as a row,
    /// exceed the device's binding size; [`Error::OutOfMemory`] if a result does not fit.
    /// # Precision
    /// Computed in f32 for all types of logits, in a fixed order, so that equal calls return equal bits:
    /// [`reference::CrossEntropyReference`](crate::reference::CrossEntropyReference). Only the gradient is rounded to `T`.
    pub fn run<T: Real>(
        &self,
        logits: &Tensor<T>,
        targets: impl Into<Targets<'a, T>>,
    ) -> Result<CrossEntropyLoss> {
        let targets = targets.into();
        call("cross_entropy", || {
            let rows = self.check(logits, targets)?;
            if logits.is_empty() {
                return self.of_nothing(logits, &rows);
            }
            let classes = targets.dense_classes()?;
            let targets = classes.as_ref().map_or(targets, Targets::Classes);
            let problem = self.problem(logits, targets)?;
            let numbers = self.numbers(logits, 1.0);
            let [loss, log_sums] =
                logits.gpu().compute(&problem, &self.operands(logits, &targets, None), &numbers)?;
            self.results(&rows, [loss, log_sums])
        })
    }

    /// Computes the loss, and the gradient of a final result with respect to the logits. `g` is the gradient of the final
    /// result with respect to the loss: 1 if the loss is the result itself; a tensor of one element, or, without a
    /// reduction, of the losses' shape.
    ///
    /// The launches are those of [`run`](Self::run): the launch that reads the logits also writes the gradient.
    ///
    /// # Shapes
    /// As [`run`](Self::run); the gradient has the logits' shape.
    /// # Errors
    /// As [`run`](Self::run); [`Error::Shape`] if `g` is a tensor of another shape.
    /// # Precision
    /// As [`run`](Self::run).
    pub fn run_with_gradient<T: Real>(
        &self,
        logits: &Tensor<T>,
        targets: impl Into<Targets<'a, T>>,
        g: impl Into<Argument<'a, f32>>,
    ) -> Result<(CrossEntropyLoss, Tensor<T>)> {
        let (targets, g) = (targets.into(), g.into());
        call("cross_entropy_and_gradient", || {
            let rows = self.check(logits, targets)?;
            let upstream = Upstream::of(OP, logits.gpu(), g, (self.reduction, &rows))?;
            if logits.is_empty() {
                return Ok((self.of_nothing(logits, &rows)?, logits.gpu().empty(logits.shape())?));
            }
            let classes = targets.dense_classes()?;
            let targets = classes.as_ref().map_or(targets, Targets::Classes);
            let problem = self.problem(logits, targets)?.with_gradient(upstream.layout().as_ref());
            let operands = self.operands(logits, &targets, upstream.tensor.as_ref());
            let numbers = self.numbers(logits, upstream.number);
            let [loss, log_sums, gradient] = logits.gpu().compute(&problem, &operands, &numbers)?;
            Ok((self.results(&rows, [loss, log_sums])?, Tensor::from_output(gradient, logits.shape())?))
        })
    }

    /// Checks the operands, and returns the shape of the rows.
    fn check<T: Real>(&self, logits: &Tensor<T>, targets: Targets<'_, T>) -> Result<Vec<usize>> {
        match targets {
            Targets::Classes(targets) => logits.same_gpu(OP, targets).map(|_| ())?,
            Targets::Probabilities(targets) => logits.same_gpu(OP, targets).map(|_| ())?,
        }
        if let Some(weights) = self.weights {
            logits.same_gpu(OP, weights)?;
        }
        let weights = self.weights.map(Tensor::layout);
        check_shapes(logits.layout(), (targets.kind(), targets.layout()), weights)?;
        if !(0.0..=1.0).contains(&self.smoothing) {
            let why = format!("it must be from 0 to 1, and is {}", self.smoothing);
            return Err(Error::input(format!("{OP}: the label smoothing"), why));
        }
        if let (Some(class), Targets::Probabilities(_)) = (self.ignored, targets) {
            let why = format!(
                "it is {class}, but the targets are probabilities: a row whose probabilities are 0 has no loss"
            );
            return Err(Error::input(format!("{OP}: the class to ignore"), why));
        }
        let rows = logits.shape().split_last().map_or(&[][..], |(_, rows)| rows);
        if rows.contains(&0) && self.reduction == Reduction::Mean {
            return Err(Error::shape(
                OP,
                "the mean of no rows does not exist, but `Reduction::Sum` is 0",
                logits.shape(),
            ));
        }
        if !rows.contains(&0) && logits.is_empty() {
            return Err(Error::shape(OP, "there must be at least one class", logits.shape()));
        }
        Ok(rows.to_vec())
    }

    fn problem<T: Real>(&self, logits: &Tensor<T>, targets: Targets<'_, T>) -> Result<CrossEntropyProblem> {
        let ignored = if self.ignored.is_some() { IgnoredClass::OfCall } else { IgnoredClass::Never };
        let weights = self.weights.map(Tensor::layout);
        let targets = (targets.kind(), targets.layout());
        let problem = CrossEntropyProblem::new(logits.layout(), targets, weights, T::DTYPE)?;
        Ok(problem.reduced(self.reduction).ignoring(ignored))
    }

    fn operands<'b, T: Real>(
        &'b self,
        logits: &'b Tensor<T>,
        targets: &'b Targets<'b, T>,
        upstream: Option<&'b Tensor<f32>>,
    ) -> Vec<View<'b>> {
        let others = [self.weights, upstream].into_iter().flatten().map(Tensor::view);
        [logits.view(), targets.view()].into_iter().chain(others).collect()
    }

    #[expect(clippy::cast_possible_truncation, reason = "rounded once")]
    fn numbers<T: Real>(&self, logits: &Tensor<T>, g: f32) -> [Scalar; 4] {
        let classes = logits.shape().last().copied().unwrap_or(1);
        let smoothing = f64::from(self.smoothing);
        [
            Scalar::F32((1.0 - smoothing) as f32),
            Scalar::F32((smoothing / classes as f64) as f32),
            Scalar::F32(g),
            Scalar::U32(self.ignored.unwrap_or(0).cast_unsigned()),
        ]
    }

    fn results(&self, rows: &[usize], [loss, log_sums]: [Allocation; 2]) -> Result<CrossEntropyLoss> {
        let of_loss = if self.reduction == Reduction::None { rows } else { &[] };
        Ok(CrossEntropyLoss {
            loss: Tensor::from_output(loss, of_loss)?,
            log_sums: Tensor::from_output(log_sums, rows)?,
        })
    }

    /// The result for no rows, if it is not a mean.
    fn of_nothing<T: Real>(&self, logits: &Tensor<T>, rows: &[usize]) -> Result<CrossEntropyLoss> {
        let gpu = logits.gpu();
        let log_sums = gpu.empty(rows)?;
        let loss = if self.reduction == Reduction::None { gpu.empty(rows)? } else { gpu.zeros([])? };
        Ok(CrossEntropyLoss { loss, log_sums })
    }
}
