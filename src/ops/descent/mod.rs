//! Gradient descent: the step that the layers share.

mod rate;

pub use rate::Rate;

use crate::layout::{Layout, Real};
use crate::ops::activation::Activation;
use crate::ops::elementwise::functions::mul;
use crate::ops::elementwise::{activate, sub_assign};
use crate::tensor::Tensor;
use crate::{Error, Result};
use std::ops::Range;

/// A parameter, and its gradient.
pub(crate) struct Trained<'a, T: Real> {
    pub(crate) whole: &'a mut Tensor<T>,
    /// The trained indices along an axis, if not the whole parameter is trained.
    pub(crate) part: Option<(usize, Range<usize>)>,
    pub(crate) gradient: &'a Tensor<f32>,
}

impl<'a, T: Real> Trained<'a, T> {
    /// A parameter that is trained as a whole.
    pub(crate) fn whole(whole: &'a mut Tensor<T>, gradient: &'a Tensor<f32>) -> Self {
        Self { whole, part: None, gradient }
    }

    /// The layout of the elements that are trained.
    fn layout(&self) -> Result<Layout> {
        match self.part.clone() {
            Some((axis, range)) => self.whole.layout().slice(axis, range),
            None => Ok(*self.whole.layout()),
        }
    }

    /// Fails if the gradient has another shape than the parameter, or a capture would replace the parameter.
    fn check(&self, op: &'static str) -> Result<()> {
        let gpu = self.whole.same_gpu(op, self.gradient)?;
        let layout = self.layout()?;
        if layout.shape() != self.gradient.shape() {
            let rule = "the gradients must be those of this layer's parameters";
            return Err(Error::shapes(op, rule, self.gradient.shape(), layout.shape()));
        }
        if self.must_be_copied() && gpu.is_capturing() {
            let why = "other tensors share its buffer (clones of the layer, views), or its elements have gaps or another \
                       order: it would be copied, and the copy would belong to the replay. Drop the others, or make one \
                       step before the capture";
            return Err(Error::input(format!("{op}: a parameter of shape {:?}", layout.shape()), why));
        }
        Ok(())
    }

    /// Whether the parameter cannot be updated in place.
    fn must_be_copied(&self) -> bool {
        self.whole.is_shared() || !self.whole.layout().is_contiguous()
    }

    /// Copies the parameter if it cannot be updated in place.
    fn own(&mut self) -> Result<()> {
        if self.must_be_copied() {
            *self.whole = activate(self.whole, Activation::None)?;
        }
        Ok(())
    }
}

/// Subtracts `rate` times its gradient from each parameter, in place; a shared parameter is copied first. Computed in f32
/// and rounded to `T`. If an error is found before the first parameter is written, no parameter changes.
pub(crate) fn gradient_step<T: Real>(
    op: &'static str,
    mut trained: Vec<Trained<'_, T>>,
    rate: Rate<'_>,
) -> Result<()> {
    let Some(first) = trained.first() else { return Ok(()) };
    trained.iter().try_for_each(|trained| trained.check(op))?;
    let rate = rate.on(op, first.whole.gpu())?;
    let step = |trained: &Trained<'_, T>| mul(trained.gradient, &rate)?.cast::<T>();
    let steps = trained.iter().map(step).collect::<Result<Vec<_>>>()?;
    trained.iter_mut().try_for_each(Trained::own)?;
    for (trained, step) in trained.iter_mut().zip(&steps) {
        let part = trained.layout()?;
        trained.whole.write_part(part, |part| sub_assign(part, step))?;
    }
    Ok(())
}
