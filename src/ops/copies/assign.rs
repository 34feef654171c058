//! Results in existing tensors.

use crate::error::Named;
use crate::layout::Element;
use crate::ops::copy::copy_into;
use crate::tensor::{Destination, Tensor};
use crate::{Error, Result};

impl<T: Element> Tensor<T> {
    /// Replaces the elements by the result of an operation: `c.assign(|| ops::exp(&a))`. The tensor is uniquely owned or a
    /// [`writable_view`](Self::writable_view). It keeps its buffer, so other work may know it.
    ///
    /// An operation that `call` itself calls writes straight to the tensor, and nothing is allocated for the result: if no other tensor
    /// shares the buffer, and the tensor has no gaps and begins at a multiple of 256 bytes; functions of elements write to any
    /// view. In other cases the result is computed in a temporary tensor and copied by one more launch: where other tensors share
    /// the buffer, for operations with several results, and for work of several operations. If `call` fails, the elements are
    /// unspecified, unless other tensors share the buffer.
    ///
    /// The bits are those of the operation's new tensor. Only a tuned product may round otherwise, because a result with gaps is
    /// another problem.
    ///
    /// # Shapes
    /// The result has the tensor's shape and type.
    /// # Errors
    /// Those of the operation; [`Error::Shape`] if the result has another shape, or the tensor's elements overlap;
    /// [`Error::Gpu`] if the result is on another device; [`Error::Input`] if others share the tensor's buffer and it is no writable
    /// view, or if `call` keeps a result that was written to the tensor.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::ops;
    ///
    /// let x = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
    /// let mut sums = gpu.empty::<f32>([2])?;
    /// let before = gpu.stats().buffers_created;
    /// sums.assign(|| ops::sum(&x, 1))?;
    /// assert_eq!(gpu.stats().buffers_created, before);
    /// assert_eq!(sums.to_vec()?, [3.0, 7.0]);
    ///
    /// let mut column = x.slice(1, 1..)?.writable_view();
    /// column.assign(|| ops::add(&sums.unsqueeze(1)?, 0.5))?;
    /// assert_eq!(x.to_vec()?, [1.0, 3.5, 3.0, 7.5]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn assign(&mut self, call: impl FnOnce() -> Result<Self>) -> Result<()> {
        let op = "assign";
        self.check_unshared(op)?;
        // Where others share the buffer, `call` may read it, so it must not change before the result is complete.
        let (made, destination) =
            if self.is_shared() { (call(), Destination::Left) } else { self.as_destination(call) };
        let (made, is_taken) = (made?, destination == Destination::Taken);
        if is_taken && self.holders() > 1 + usize::from(made.shares_buffer(self)) {
            let why = "`call` keeps a result that was written to it: keep a copy, or nothing";
            return Err(Error::input("assign: the output", why));
        }
        if made.shape() != self.shape() {
            let rule = "the output must have the shape of the result";
            return Err(Error::shapes(op, rule, self.shape(), made.shape()));
        }
        self.same_gpu(op, &made)?;
        if is_taken && made.is_lent() && made.layout() == self.layout() {
            return Ok(());
        }
        let made = if made.shares_buffer(self) {
            let copy = made.copied().named(op)?;
            drop(made);
            copy
        } else {
            made
        };
        copy_into(&made, self).named(op)
    }
}
