//! A parameter that an optimiser changes.

use crate::error::call;
use crate::layout::{Layout, Real};
use crate::ops::activation::Activation;
use crate::ops::copy::copy_into;
use crate::ops::elementwise::activate;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// A layer's parameter that can be changed. Its values change; its shape, type and device stay, so the layer stays whole.
///
/// If other tensors share the parameter's buffer, such as those of a clone of the layer, they keep the old values.
#[derive(Debug)]
pub struct ParameterMut<'a, T: Real> {
    whole: &'a mut Tensor<T>,
    /// The elements of the parameter, if it is a part of a contiguous tensor that begins at 0.
    part: Option<Layout>,
}

impl<'a, T: Real> ParameterMut<'a, T> {
    /// A tensor of a layer that is a parameter as a whole.
    #[must_use]
    pub fn new(whole: &'a mut Tensor<T>) -> Self {
        Self { whole, part: None }
    }

    pub(crate) fn part(whole: &'a mut Tensor<T>, part: Layout) -> Self {
        debug_assert!(whole.layout().is_contiguous() && whole.layout().offset() == 0);
        Self { whole, part: Some(part) }
    }

    /// The extents of the axes.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.layout().shape()
    }

    /// The values; a view.
    #[must_use]
    pub fn tensor(&self) -> Tensor<T> {
        self.whole.with_layout(*self.layout())
    }

    /// Replaces the values by those of a tensor of the same shape. Outside of [`Gpu::capture`](crate::Gpu::capture) a parameter that
    /// is a tensor of its own shares `values` and copies nothing.
    ///
    /// # Errors
    /// [`Error::Shape`] if the shapes differ; [`Error::Gpu`] if the devices do; as [`update`](Self::update).
    pub fn set(&mut self, values: &Tensor<T>) -> Result<()> {
        call("ParameterMut::set", || {
            let gpu = self.whole.same_gpu("set", values)?;
            if values.shape() != self.shape() {
                let rule = "the values must have the shape of the parameter";
                return Err(Error::shapes("set", rule, values.shape(), self.shape()));
            }
            if self.part.is_none() && !gpu.is_capturing() {
                *self.whole = values.clone();
                return Ok(());
            }
            self.in_place(|own| copy_into(values, own))
        })
    }

    /// Changes the values in place by a function, such as [`sub_assign`](crate::ops::sub_assign). If another tensor shares the
    /// buffer, the parameter is copied first. If the function stores another tensor, the parameter is [`set`](Self::set) to it.
    ///
    /// # Errors
    /// The function's; as [`set`](Self::set); [`Error::Input`] in the closure of [`Gpu::capture`](crate::Gpu::capture) if the
    /// parameter would be copied, because the copy would belong to the replay; [`Error::OutOfMemory`] if it does not fit.
    pub fn update(&mut self, change: impl FnOnce(&mut Tensor<T>) -> Result<()>) -> Result<()> {
        let op = "ParameterMut::update";
        call(op, || self.check_in_place("update").and_then(|()| self.own()))?;
        let mut values = self.tensor().writable_view();
        change(&mut values)?;
        if values.shares_buffer(self.whole) && values.layout() == self.layout() {
            return Ok(());
        }
        call(op, || self.set(&values))
    }

    /// Runs `write` with the elements as a uniquely owned tensor.
    pub(super) fn in_place(&mut self, write: impl FnOnce(&mut Tensor<T>) -> Result<()>) -> Result<()> {
        self.check_in_place("update")?;
        self.own()?;
        let layout = *self.layout();
        self.whole.write_part(layout, write)
    }

    /// Fails if a capture would replace the parameter.
    pub(super) fn check_in_place(&self, op: &'static str) -> Result<()> {
        if self.must_be_copied() && self.whole.gpu().is_capturing() {
            let why = "other tensors share its buffer (clones of the layer, views), or its elements have gaps or another \
                       order: it would be copied, and the copy would belong to the replay. Drop the others, or make one \
                       step before the capture";
            return Err(Error::input(format!("{op}: a parameter of shape {:?}", self.shape()), why));
        }
        Ok(())
    }

    /// Copies the parameter if it cannot be changed in place.
    pub(super) fn own(&mut self) -> Result<()> {
        if self.must_be_copied() {
            *self.whole = activate(self.whole, Activation::None)?;
        }
        Ok(())
    }

    fn must_be_copied(&self) -> bool {
        self.whole.is_shared() || !self.whole.layout().is_contiguous()
    }

    fn layout(&self) -> &Layout {
        self.part.as_ref().unwrap_or(self.whole.layout())
    }
}
