//! The forward pass of a sketched layer: two products.

use super::products::{ProductEpilogue, RightFactor};
use super::sk_linear::{OP, SkLinear};
use crate::error::{Named, call};
use crate::layout::{Layout, Real};
use crate::plan::Plan;
use crate::tensor::Tensor;
use crate::{Error, Result};
use std::marker::PhantomData;

impl<T: Real> SkLinear<T> {
    /// The outputs of the layer, in two launches. The second one applies bias and activation in its epilogue.
    ///
    /// # Shapes
    /// `x` (..., in) of up to 6 axes, any strides -> (..., out)
    /// # Errors
    /// [`Error::Shape`] if the last axis of `x` is not the inputs; [`Error::Gpu`] if `x` is on another device;
    /// [`Error::OutOfMemory`] or [`Error::Limit`] if a result does not fit.
    /// # Precision
    /// Both products sum in f32, and the result of the first is rounded to `T`. With the factors F and G,
    /// $|\hat y - y| \le (\gamma_{in} + \gamma_{2TR} + u)\\,|x||F||G| / 2T$ before bias and activation, where u is the
    /// unit roundoff of `T`.
    pub fn forward(&self, x: &Tensor<T>) -> Result<Tensor<T>> {
        self.apply(x).run().named("SkLinear::forward")
    }

    /// The forward pass with options: `layer.apply(&x).output::<f32>().run()`. [`forward`](Self::forward) is the plain
    /// case.
    pub fn apply<'a>(&'a self, x: &'a Tensor<T>) -> SkLinearForward<'a, T> {
        SkLinearForward { layer: self, x, output: PhantomData }
    }

    /// The first product. [`output`](Self::output) computes y from it, and [`backward`](Self::backward) needs it.
    ///
    /// # Shapes
    /// `x` (..., in) -> (..., 2TR)
    /// # Errors
    /// As for [`forward`](Self::forward).
    pub fn hidden(&self, x: &Tensor<T>) -> Result<Tensor<T>> {
        call("SkLinear::hidden", || {
            self.check(x, self.inputs(), "the last axis must be the layer's inputs")?;
            let rows = rows(x)?;
            like(x.shape(), &self.multiply(&rows, RightFactor::First, self.hidden_epilogue())?)
        })
    }

    /// The second product, with bias and activation. Sums are rounded once to the type `C`.
    ///
    /// # Shapes
    /// `hidden` (..., 2TR) -> (..., out)
    /// # Errors
    /// As for [`forward`](Self::forward).
    pub fn output<C: Real>(&self, hidden: &Tensor<T>) -> Result<Tensor<C>> {
        call("SkLinear::output", || {
            self.check(hidden, 2 * self.inner(), "the last axis must be 2TR, as in the result of `hidden`")?;
            let rows = rows(hidden)?;
            like(hidden.shape(), &self.multiply(&rows, RightFactor::Second, self.output_epilogue())?)
        })
    }

    /// The plans of both products for `x`.
    ///
    /// # Errors
    /// As for [`forward`](Self::forward); also [`Error::Shape`] if `x` has no rows, because nothing is launched then.
    pub fn plans(&self, x: &Tensor<T>) -> Result<[Plan; 2]> {
        call("SkLinear::plans", || {
            self.check(x, self.inputs(), "the last axis must be the layer's inputs")?;
            if x.is_empty() {
                return Err(Error::shape(
                    OP,
                    "x must have rows: without any, nothing is launched",
                    x.shape(),
                ));
            }
            let x = rows(x)?;
            let mut shape = x.shape().to_vec();
            *shape.last_mut().unwrap_or(&mut 0) = 2 * self.inner();
            let hidden = Layout::contiguous(OP, &shape)?;
            let first = self.product(x.layout(), RightFactor::First, self.hidden_epilogue(), T::DTYPE)?;
            let second = self.product(&hidden, RightFactor::Second, self.output_epilogue(), T::DTYPE)?;
            Ok([self.gpu().explained(&first)?, self.gpu().explained(&second)?])
        })
    }

    /// The epilogue of the first product.
    fn hidden_epilogue(&self) -> ProductEpilogue<'_, T> {
        ProductEpilogue { alpha: self.scale(), ..ProductEpilogue::default() }
    }

    /// The epilogue of the second product.
    fn output_epilogue(&self) -> ProductEpilogue<'_, T> {
        ProductEpilogue {
            bias: self.bias.as_ref(),
            activation: self.activation,
            ..ProductEpilogue::default()
        }
    }

    /// Checks that `x` is on the layer's device and has this number of features along its last axis.
    pub(super) fn check(&self, x: &Tensor<T>, features: usize, rule: &'static str) -> Result<()> {
        self.first.same_gpu(OP, x)?;
        if x.shape().last() == Some(&features) {
            return Ok(());
        }
        Err(Error::shapes(OP, rule, x.shape(), &[features]))
    }
}

/// A forward pass with options, from [`SkLinear::apply`]. It runs with [`run`](Self::run).
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing is computed before `run`"]
pub struct SkLinearForward<'a, T: Real, C: Real = T> {
    layer: &'a SkLinear<T>,
    x: &'a Tensor<T>,
    output: PhantomData<C>,
}

impl<'a, T: Real, C: Real> SkLinearForward<'a, T, C> {
    /// The element type of the outputs, which is the layer's by default. Sums are rounded once to it.
    pub fn output<D: Real>(self) -> SkLinearForward<'a, T, D> {
        SkLinearForward { layer: self.layer, x: self.x, output: PhantomData }
    }

    /// Runs the layer.
    ///
    /// # Errors
    /// As for [`SkLinear::forward`].
    pub fn run(self) -> Result<Tensor<C>> {
        call("SkLinear::apply", || self.layer.output(&self.layer.hidden(self.x)?))
    }
}

/// The rows of a tensor as a matrix if its leading axes can be merged into one. Otherwise the result is a batch of
/// matrices, or a copy if there are too many axes for a batch.
fn rows<T: Real>(x: &Tensor<T>) -> Result<Tensor<T>> {
    let axes = x.shape().len();
    match x.layout().joined(0..axes - 1) {
        None if axes <= 4 => Ok(x.clone()),
        _ => x.as_matrix(),
    }
}

/// The result of a product of [`rows`], with the leading axes of `x`.
fn like<T: Real>(x: &[usize], result: &Tensor<T>) -> Result<Tensor<T>> {
    let mut shape = x.to_vec();
    if let (Some(to), Some(&features)) = (shape.last_mut(), result.shape().last()) {
        *to = features;
    }
    result.reshape(shape)
}
