//! The outputs of a sketched layer: two products.

use super::products::{Epilogue, Right};
use super::{OP, SkLinear};
use crate::error::{Named, call};
use crate::layout::{Layout, Real};
use crate::plan::Plan;
use crate::tensor::Tensor;
use crate::{Error, Result};

impl<T: Real> SkLinear<T> {
    /// The outputs: two launches, the second of which has the bias and the activation in it.
    ///
    /// # Shapes
    /// `x` (..., in) in any strides, up to 6 axes -> (..., out)
    /// # Errors
    /// [`Error::Shape`] if the last axis of `x` is not the inputs; [`Error::Gpu`] if it lives on another device;
    /// [`Error::OutOfMemory`], [`Error::Limit`] without room.
    /// # Precision
    /// As two products of matrices: sums in f32, and what lies between them rounded to `T`. With the factors F and G,
    /// $|\hat y - y| \le (\gamma_{in} + \gamma_{2TR} + u)\,|x||F||G| / 2T$ before bias and activation, u being what
    /// rounding to `T` is off by.
    pub fn forward(&self, x: &Tensor<T>) -> Result<Tensor<T>> {
        self.forward_as(x).named("SkLinear::forward")
    }

    /// As [`forward`](Self::forward), with outputs of another type: sums are rounded to it once.
    ///
    /// # Errors
    /// As [`forward`](Self::forward).
    pub fn forward_as<C: Real>(&self, x: &Tensor<T>) -> Result<Tensor<C>> {
        call("SkLinear::forward_as", || self.output(&self.hidden(x)?))
    }

    /// The first product: what [`output`](Self::output) makes y of, and what [`backward`](Self::backward) needs.
    ///
    /// # Shapes
    /// `x` (..., in) -> (..., 2TR)
    /// # Errors
    /// As [`forward`](Self::forward).
    pub fn hidden(&self, x: &Tensor<T>) -> Result<Tensor<T>> {
        call("SkLinear::hidden", || {
            self.check(x, self.inputs(), "the last axis must be the layer's inputs")?;
            let rows = rows(x)?;
            like(x.shape(), &self.multiply(&rows, Right::First, self.sketched())?)
        })
    }

    /// The second product, with bias and activation.
    ///
    /// # Shapes
    /// `hidden` (..., 2TR) -> (..., out)
    /// # Errors
    /// As [`forward`](Self::forward).
    pub fn output<C: Real>(&self, hidden: &Tensor<T>) -> Result<Tensor<C>> {
        call("SkLinear::output", || {
            self.check(hidden, 2 * self.half(), "the last axis must be that of what `hidden` returns")?;
            let rows = rows(hidden)?;
            like(hidden.shape(), &self.multiply(&rows, Right::Second, self.expanded())?)
        })
    }

    /// How both products are computed for `x`.
    ///
    /// # Errors
    /// As [`forward`](Self::forward); [`Error::Shape`] too if there is no row, and so nothing to launch.
    pub fn plans(&self, x: &Tensor<T>) -> Result<[Plan; 2]> {
        call("SkLinear::plans", || {
            self.check(x, self.inputs(), "the last axis must be the layer's inputs")?;
            if x.is_empty() {
                return Err(Error::shape(OP, "nothing is launched for no row", x.shape()));
            }
            let x = rows(x)?;
            let mut shape = x.shape().to_vec();
            *shape.last_mut().unwrap_or(&mut 0) = 2 * self.half();
            let hidden = Layout::contiguous(OP, &shape)?;
            Ok([
                self.plan(x.layout(), Right::First, self.sketched())?,
                self.plan(&hidden, Right::Second, self.expanded())?,
            ])
        })
    }

    /// What becomes of the sums of the first product.
    fn sketched(&self) -> Epilogue<'_, T> {
        Epilogue { alpha: self.scale(), ..Epilogue::default() }
    }

    /// What becomes of those of the second.
    fn expanded(&self) -> Epilogue<'_, T> {
        Epilogue { bias: self.bias.as_ref(), activation: self.activation, ..Epilogue::default() }
    }

    /// Checks that `x` lives on the layer's device and has features of this number along its last axis.
    pub(super) fn check(&self, x: &Tensor<T>, features: usize, rule: &'static str) -> Result<()> {
        self.first.same_gpu(OP, x)?;
        if x.shape().last() == Some(&features) {
            return Ok(());
        }
        Err(Error::shapes(OP, rule, x.shape(), &[features]))
    }
}

/// The rows of a tensor as a matrix, wherever the axes in front are one in memory; else as a batch of matrices, or
/// copied if there are too many axes for that.
fn rows<T: Real>(x: &Tensor<T>) -> Result<Tensor<T>> {
    match matrix(x)? {
        Some(matrix) => Ok(matrix),
        None if x.shape().len() <= 4 => Ok(x.clone()),
        None => as_matrix(x),
    }
}

/// The rows of a tensor as a matrix, copied if its axes in front are not one in memory.
pub(super) fn as_matrix<T: Real>(x: &Tensor<T>) -> Result<Tensor<T>> {
    if let Some(matrix) = matrix(x)? {
        return Ok(matrix);
    }
    let (features, count) = split(x);
    x.contiguous()?.reshape([count, features])
}

/// The features of each row, and how many rows there are.
fn split<T: Real>(x: &Tensor<T>) -> (usize, usize) {
    let (features, in_front) = x.shape().split_last().map_or((1, &[][..]), |(&last, front)| (last, front));
    (features, in_front.iter().product())
}

/// The rows of a tensor as a matrix that shares its memory, if its axes in front step as one.
fn matrix<T: Real>(x: &Tensor<T>) -> Result<Option<Tensor<T>>> {
    let (features, count) = split(x);
    let last = x.shape().len() - 1;
    let mut axes = (0..last).rev().filter(|&axis| x.shape()[axis] != 1);
    let mut step = None;
    let mut span = 0;
    if let Some(inner) = axes.next() {
        step = Some(x.strides()[inner]);
        span = x.strides()[inner] * x.shape()[inner];
    }
    for axis in axes {
        if x.strides()[axis] != span {
            return Ok(None);
        }
        span *= x.shape()[axis];
    }
    let strides = [step.unwrap_or(features), x.strides()[last]];
    x.as_strided(&[count, features], &strides, x.layout().offset()).map(Some)
}

/// A product of [`rows`] with the axes in front that `x` has.
fn like<T: Real>(x: &[usize], result: &Tensor<T>) -> Result<Tensor<T>> {
    let mut shape = x.to_vec();
    if let (Some(to), Some(&features)) = (shape.last_mut(), result.shape().last()) {
        *to = features;
    }
    result.reshape(shape)
}
