//! The tensor to which [`Tensor::assign`] writes the result of a call.

use super::array::Tensor;
use crate::gpu::{Gpu, View, check_same_gpu};
use crate::layout::Element;
use crate::plan::{AnyProblem, Scalar};
use crate::{Error, Result};
use std::any::Any;
use std::cell::RefCell;

thread_local! {
    /// The tensor of the innermost `assign` of this thread, until an operation takes it.
    static WAITING: RefCell<Option<Box<dyn Any>>> = const { RefCell::new(None) };
}

/// NOTE: a thread that ends may still run destructors that call this crate.
fn replaced_by(c: Option<Box<dyn Any>>) -> Option<Box<dyn Any>> {
    WAITING.try_with(|waiting| waiting.replace(c)).ok().flatten()
}

/// Another waiting tensor. Its drop restores the previous one.
struct Waiting(Option<Box<dyn Any>>);

impl Drop for Waiting {
    fn drop(&mut self) {
        drop(replaced_by(self.0.take()));
    }
}

/// Whether an operation has written to the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    Taken,
    Left,
}

impl<T: Element> Tensor<T> {
    /// Runs `work` with this tensor as the destination: the first operation of this thread whose result has its shape and type
    /// writes to it.
    pub(crate) fn as_destination<R>(&self, work: impl FnOnce() -> R) -> (R, Destination) {
        let outer = Waiting(replaced_by(Some(Box::new(self.clone()))));
        let result = work();
        let left = replaced_by(None);
        drop(outer);
        (result, if left.is_some() { Destination::Left } else { Destination::Taken })
    }

    /// Takes the destination for a result of this shape, if it has the shape and a layout that `fits`.
    ///
    /// # Errors
    /// [`Error::Input`] if it shares its buffer with an operand.
    pub(crate) fn destination(
        gpu: &Gpu,
        shape: &[usize],
        operands: &[View<'_>],
        fits: impl FnOnce(&Self) -> bool,
    ) -> Result<Option<Self>> {
        let has_shape =
            |c: &Self| c.shape() == shape && !c.is_empty() && check_same_gpu("", gpu, c.gpu()).is_ok();
        let taken = WAITING.try_with(|waiting| {
            let mut waiting = waiting.borrow_mut();
            let c = waiting.as_ref()?.downcast_ref::<Self>()?;
            if has_shape(c) && fits(c) { waiting.take() } else { None }
        });
        let Some(c) = taken.ok().flatten().and_then(|c| c.downcast::<Self>().ok()) else { return Ok(None) };
        if operands.iter().any(|operand| operand.shares_buffer(&c.view())) {
            return Err(Error::input("assign: the output", "it shares its buffer with an operand"));
        }
        Ok(Some(*c))
    }

    /// The result of a problem with one output, in a new tensor of this shape, or in the destination of [`assign`](Self::assign)
    /// if it has no gaps.
    pub(crate) fn computed(
        gpu: &Gpu,
        problem: &AnyProblem,
        inputs: &[View<'_>],
        scalars: &[Scalar],
        shape: impl AsRef<[usize]>,
    ) -> Result<Self> {
        let shape = shape.as_ref();
        if let Some(c) = Self::destination(gpu, shape, inputs, Self::is_like_new)? {
            c.overwrite_with(|to| gpu.compute_to(problem, to, inputs, scalars))?;
            return Ok(c);
        }
        let [made] = gpu.compute(problem, inputs, scalars)?;
        Self::from_output(made, shape)
    }

    /// A tensor for copies: the destination of [`assign`](Self::assign) if it has no gaps, or a new one.
    pub(crate) fn place(gpu: &Gpu, shape: &[usize], operands: &[View<'_>]) -> Result<Self> {
        match Self::destination(gpu, shape, operands, |c| c.layout.is_contiguous())? {
            Some(c) => Ok(c),
            None => gpu.empty(shape),
        }
    }

    /// The destination of [`assign`](Self::assign) for kernels that write any strides.
    pub(crate) fn strided_destination(
        gpu: &Gpu,
        shape: &[usize],
        operands: &[View<'_>],
    ) -> Result<Option<Self>> {
        Self::destination(gpu, shape, operands, |c| c.layout.check_no_overlap("").is_ok())
    }

    /// Whether kernels may write to the tensor as to a buffer of its own: it has no gaps, begins where a binding may, and nothing
    /// else is in its last word.
    fn is_like_new(&self) -> bool {
        let end = self.bytes().end;
        self.layout.is_contiguous()
            && self.layout.offset_in_window(T::DTYPE) == 0
            && (end.is_multiple_of(4) || end == self.storage.len())
    }
}
