//! The tensor of a call's result: a new one, or the one to which [`Tensor::assign`] writes it.

use super::array::{Tensor, Writers};
use crate::error::depth;
use crate::gpu::{Allocation, Gpu, View, check_same_gpu};
use crate::layout::{Element, Layout};
use crate::plan::{AnyProblem, Scalar};
use crate::{Error, Result};
use std::any::Any;
use std::cell::RefCell;

/// The tensor of an `assign`, and how deep its closure is in functions of this crate.
struct Waiting {
    c: Box<dyn Any>,
    depth: u32,
}

thread_local! {
    /// The tensor of the innermost `assign` of this thread, until an operation takes it.
    static WAITING: RefCell<Option<Waiting>> = const { RefCell::new(None) };
}

/// NOTE: a thread that ends may still run destructors that call this crate.
fn replaced_by(waiting: Option<Waiting>) -> Option<Waiting> {
    WAITING.try_with(|own| own.replace(waiting)).ok().flatten()
}

/// What waited before. Its drop restores it.
struct Before(Option<Waiting>);

impl Drop for Before {
    fn drop(&mut self) {
        drop(replaced_by(self.0.take()));
    }
}

/// Runs work whose results are not those of the operation that the user called: they get tensors of their own.
pub(crate) fn aside<R>(work: impl FnOnce() -> R) -> R {
    let before = Before(replaced_by(None));
    let done = work();
    drop(before);
    done
}

/// Whether an operation has written to the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    Taken,
    Left,
}

impl<T: Element> Tensor<T> {
    /// Runs `work` with this tensor as the destination: the first operation that `work` itself calls, whose result has the shape and
    /// type, writes to it. Operations that others call in turn do not.
    pub(crate) fn as_destination<R>(&self, work: impl FnOnce() -> R) -> (R, Destination) {
        let mut lent = self.clone();
        lent.writers = Writers::Lent;
        let outer = Before(replaced_by(Some(Waiting { c: Box::new(lent), depth: depth() })));
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
            let Waiting { c, depth: outside } = waiting.as_ref()?;
            let c = c.downcast_ref::<Self>()?;
            let is_called_directly = depth() <= outside + 1;
            if is_called_directly && has_shape(c) && fits(c) { waiting.take() } else { None }
        });
        let taken = taken.ok().flatten().and_then(|waiting| waiting.c.downcast::<Self>().ok());
        let Some(c) = taken else { return Ok(None) };
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

    /// A row-major tensor on the new buffer of a plan's output ([`Gpu::compute`]).
    pub(crate) fn from_output(allocation: Allocation, shape: impl AsRef<[usize]>) -> Result<Self> {
        let made = Self::from_allocation(allocation, Layout::contiguous("made", shape.as_ref())?);
        debug_assert!(made.is_empty() || made.covers_storage(), "{:?}", made.shape());
        Ok(made)
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
