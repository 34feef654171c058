//! A block: convolution, batch norm, activation.

use super::batch_norm2d::{BatchNorm2d, added};
use super::conv2d::Conv2d;
use super::folded::FoldedConv;
use crate::conv::ConvGeometry;
use crate::error::call;
use crate::layout::Real;
use crate::ops::training::{Gradients, ParameterMut, Parameters, check_gradients};
use crate::ops::{self, Activation, BatchNormed};
use crate::tensor::Tensor;
use crate::{Error, Result};

/// The name of the layer in errors.
const OP: &str = "ConvBnAct";
/// What stands before the names of the parameters of the parts.
pub(super) const CONV: &str = "conv.";
pub(super) const NORM: &str = "bn.";

/// A convolution, a batch norm and an activation: activation(norm($x \ast w + b$)). For evaluation, [`folded`](Self::folded) makes one
/// launch of them.
///
/// The parameters have the names of the parts below `conv.` and `bn.`, as networks for the detection of objects have them. Load parts
/// with other names by themselves, such as `0.` and `1.` of torchvision's `Conv2dNormActivation`.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::conv::{BatchNorm2d, Conv2d, ConvBnAct, ConvOptions, Padding};
/// use tilewise::{Activation, Fill, Parameters, ops};
///
/// let options = ConvOptions::new().padding(Padding::Explicit([[1, 1], [1, 1]]));
/// let conv = Conv2d::random(&gpu, [8, 8], [3, 3], options, 1)?.without_bias();
/// let mut block = ConvBnAct::new(conv, BatchNorm2d::untrained(&gpu, 8)?, Activation::Silu)?;
/// let x = gpu.random::<f32>([2, 6, 6, 8], Fill::Normal, 2)?;
/// let target = gpu.random::<f32>([2, 6, 6, 8], Fill::Uniform, 3)?;
/// for _ in 0..5 {
///     let (y, saved) = block.training(&x)?;
///     let (_, grad) = ops::mse_and_gradient(&y, &target, ops::Reduction::Mean, 1.0)?;
///     let (_, gradients) = block.training_backward(&saved, &grad)?;
///     block.descend(&gradients, 0.5)?;
/// }
/// let trained = block.folded()?;
/// let launches = gpu.stats().launches;
/// let y = trained.convolution(&x).residual(&x).run()?; // all of it, and a residual
/// assert_eq!((y.shape(), gpu.stats().launches - launches), (x.shape(), 1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ConvBnAct<T: Real> {
    conv: Conv2d<T>,
    norm: BatchNorm2d<T>,
    activation: Activation,
}

/// What the backward pass of a [`ConvBnAct`] in training needs: the operand, the result of the convolution and that of the norm.
#[derive(Clone, Debug)]
pub struct SavedConvBnAct<T: Real> {
    x: Tensor<T>,
    sums: Tensor<T>,
    normed: BatchNormed<T>,
}

impl<T: Real> ConvBnAct<T> {
    /// The block of these parts.
    ///
    /// # Errors
    /// [`Error::Shape`] if the norm does not have the convolution's output channels; [`Error::Gpu`] if they are on different devices.
    pub fn new(conv: Conv2d<T>, norm: BatchNorm2d<T>, activation: Activation) -> Result<Self> {
        call("ConvBnAct::new", || Self::of(conv, norm, activation))
    }

    pub(super) fn of(conv: Conv2d<T>, norm: BatchNorm2d<T>, activation: Activation) -> Result<Self> {
        conv.weight().same_gpu(OP, &norm.running.mean)?;
        if conv.weight().shape()[0] != norm.channels() {
            let rule = "the norm must have a channel for each output channel of the convolution";
            return Err(Error::shapes(OP, rule, &[norm.channels()], conv.weight().shape()));
        }
        Ok(Self { conv, norm, activation })
    }

    /// The block with another $\varepsilon$ of its norm, as [`BatchNorm2d::eps`].
    #[must_use]
    pub fn eps(self, eps: f32) -> Self {
        Self { norm: self.norm.eps(eps), ..self }
    }

    /// The block with its parameters in another type. Running statistics stay f32; those that the new block updates are its own.
    ///
    /// # Errors
    /// As [`Tensor::cast`].
    /// # Precision
    /// As [`Tensor::cast`].
    pub fn cast<P: Real>(&self) -> Result<ConvBnAct<P>> {
        call("ConvBnAct::cast", || {
            let (conv, norm) = (self.conv.cast()?, self.norm.cast()?);
            Ok(ConvBnAct { conv, norm, activation: self.activation })
        })
    }

    /// The block for evaluation, as one launch: bias, norm and activation are its epilogue. It shares the weight, and has the
    /// statistics of this moment: fold again after a step of training.
    ///
    /// # Errors
    /// As [`BatchNorm2d::terms`].
    /// # Launches
    /// Two; three if the convolution has a bias. In f16 and bf16, one more for the cast of each vector.
    pub fn folded(&self) -> Result<FoldedConv<T>> {
        call("ConvBnAct::folded", || FoldedConv::of(&self.conv, &self.norm, self.activation))
    }

    /// The block in training. Returns the result, and what [`training_backward`](Self::training_backward) needs. Updates the running
    /// statistics as [`BatchNorm2d::training`].
    ///
    /// # Shapes
    /// As [`Conv2d::forward`].
    /// # Errors
    /// As [`Conv2d::forward`] and [`BatchNorm2d::training`].
    /// # Precision
    /// As the three operations: the results of the convolution and of the norm are rounded to `T`.
    /// # Launches
    /// Those of the convolution and of [`BatchNorm::training`](crate::ops::BatchNorm::training), and one if there is an activation.
    pub fn training(&mut self, x: &Tensor<T>) -> Result<(Tensor<T>, SavedConvBnAct<T>)> {
        call("ConvBnAct::training", || {
            let sums = self.conv.forward(x)?;
            let normed = self.norm.training(&sums)?;
            let y = match self.activation {
                Activation::None => normed.y.clone(),
                activation => ops::activate(&normed.y, activation)?,
            };
            Ok((y, SavedConvBnAct { x: x.clone(), sums, normed }))
        })
    }

    /// The backward pass of [`training`](Self::training) (vector-Jacobian product): the gradients of a loss with respect to the operand
    /// and the parameters, from its gradient `grad` with respect to the result. Call it before a step of descent, because it reads
    /// the current weights.
    ///
    /// # Shapes
    /// `grad` as the result -> the gradient of the operand, and those of the parameters in f32.
    /// # Errors
    /// [`Error::Shape`] if `grad` has another shape; otherwise as [`Conv2d::backward`] and [`BatchNorm2d::training_backward`].
    /// # Precision
    /// As the backward passes of the three operations; gradients between them are rounded to `T`.
    pub fn training_backward(
        &self,
        saved: &SavedConvBnAct<T>,
        grad: &Tensor<T>,
    ) -> Result<(Tensor<T>, Gradients)> {
        call("ConvBnAct::training_backward", || {
            let SavedConvBnAct { x, sums, normed } = saved;
            check_grad(grad, normed.y.shape())?;
            let through = self.before_activation(&normed.y, grad)?;
            self.before_norm(x, self.norm.training_backward(sums, normed, &through)?)
        })
    }

    /// As [`training_backward`](Self::training_backward), but adds the gradients of the parameters to `gradients`.
    ///
    /// # Shapes
    /// As [`training_backward`](Self::training_backward).
    /// # Errors
    /// As [`training_backward`](Self::training_backward), and as [`Parameters::pairs`] and [`Gradients::add`] for `gradients`.
    /// # Precision
    /// As [`training_backward`](Self::training_backward).
    pub fn training_backward_into(
        &self,
        saved: &SavedConvBnAct<T>,
        grad: &Tensor<T>,
        gradients: &mut Gradients,
    ) -> Result<Tensor<T>> {
        call("ConvBnAct::training_backward_into", || {
            check_gradients(OP, gradients, &self.parameters())?;
            added(self.training_backward(saved, grad)?, gradients)
        })
    }

    /// The backward pass of the block in evaluation, whose running statistics are constants: to train parameters with frozen
    /// statistics. It computes the sums of the convolution again.
    ///
    /// # Shapes
    /// `x` as in [`FoldedConv::forward`], `grad` as its result -> the gradient of `x`, and those of the parameters in f32.
    /// # Errors
    /// [`Error::Shape`] if `grad` has another shape; otherwise as [`Conv2d::backward`] and [`BatchNorm2d::backward`].
    /// # Precision
    /// As [`training_backward`](Self::training_backward).
    pub fn backward(&self, x: &Tensor<T>, grad: &Tensor<T>) -> Result<(Tensor<T>, Gradients)> {
        call("ConvBnAct::backward", || {
            let geometry =
                ConvGeometry::new(OP, x.layout(), self.conv.weight().layout(), self.conv.options())?;
            x.same_gpu(OP, grad)?;
            check_grad(grad, &geometry.output_shape())?;
            let sums = self.conv.forward(x)?;
            let through = match self.activation {
                Activation::None => grad.clone(),
                _ => self.before_activation(&self.norm.forward(&sums)?, grad)?,
            };
            self.before_norm(x, self.norm.backward(&sums, &through)?)
        })
    }

    /// As [`backward`](Self::backward), but adds the gradients of the parameters to `gradients`.
    ///
    /// # Shapes
    /// As [`backward`](Self::backward).
    /// # Errors
    /// As [`backward`](Self::backward), and as [`Parameters::pairs`] and [`Gradients::add`] for `gradients`.
    /// # Precision
    /// As [`training_backward`](Self::training_backward).
    pub fn backward_into(
        &self,
        x: &Tensor<T>,
        grad: &Tensor<T>,
        gradients: &mut Gradients,
    ) -> Result<Tensor<T>> {
        call("ConvBnAct::backward_into", || {
            check_gradients(OP, gradients, &self.parameters())?;
            added(self.backward(x, grad)?, gradients)
        })
    }

    /// The gradient of the activation's operand.
    fn before_activation(&self, normed: &Tensor<T>, grad: &Tensor<T>) -> Result<Tensor<T>> {
        match self.activation {
            Activation::None => Ok(grad.clone()),
            activation => ops::activate_backward(normed, grad, activation),
        }
    }

    /// The gradients of the operand and of all parameters, from those of the norm.
    fn before_norm(
        &self,
        x: &Tensor<T>,
        (of_sums, of_norm): (Tensor<T>, Gradients),
    ) -> Result<(Tensor<T>, Gradients)> {
        let (of_x, of_conv) = self.conv.backward(x, &of_sums)?;
        let mut gradients = of_conv.prefixed(CONV);
        gradients.accumulate(of_norm.prefixed(NORM))?;
        Ok((of_x, gradients))
    }

    /// The convolution.
    pub fn conv(&self) -> &Conv2d<T> {
        &self.conv
    }

    /// The batch norm.
    pub fn norm(&self) -> &BatchNorm2d<T> {
        &self.norm
    }

    /// The activation.
    #[must_use]
    pub fn activation(&self) -> Activation {
        self.activation
    }
}

/// Checks that a gradient has the shape of the result.
fn check_grad<T: Real>(grad: &Tensor<T>, shape: &[usize]) -> Result<()> {
    if grad.shape() == shape {
        return Ok(());
    }
    Err(Error::shapes(OP, "the gradient must have the shape of the result", grad.shape(), shape))
}

/// `conv.weight`, `conv.bias`, `bn.weight` and `bn.bias`, as far as the parts have them.
impl<T: Real> Parameters<T> for ConvBnAct<T> {
    fn parameters(&self) -> Vec<(String, &Tensor<T>)> {
        let mut all = self.conv.parameters_below(CONV);
        all.extend(self.norm.parameters_below(NORM));
        all
    }

    fn parameters_mut(&mut self) -> Vec<(String, ParameterMut<'_, T>)> {
        let mut all = self.conv.parameters_below_mut(CONV);
        all.extend(self.norm.parameters_below_mut(NORM));
        all
    }
}
