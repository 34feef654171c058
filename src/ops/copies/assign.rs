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
    /// If the tensor has no gaps, the operation writes straight to it, and nothing is allocated for the result. Functions of
    /// elements write straight to any view. In other cases the result is computed in a temporary tensor and copied
    /// by one more launch: for views with gaps, for operations with several results, and for work of several operations. Either
    /// way the bits are those of the operation's new tensor.
    ///
    /// # Shapes
    /// The result has the tensor's shape and type.
    /// # Errors
    /// Those of the operation; [`Error::Shape`] if the result has another shape, or the tensor's elements overlap;
    /// [`Error::Gpu`] if the result is on another device; [`Error::Input`] if others share the tensor's buffer, if an operand
    /// does, or if `call` keeps another result that was written to the tensor, or reads one through a shared buffer. If `call`
    /// fails after its first operation, the tensor may have the result of that one.
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
        let was_shared = self.is_shared();
        let (made, destination) = self.as_destination(call);
        let made = made?;
        if made.shape() != self.shape() {
            let rule = "the output must have the shape of the result";
            return Err(Error::shapes(op, rule, self.shape(), made.shape()));
        }
        self.same_gpu(op, &made)?;
        if made.shares_buffer(self) && made.layout() == self.layout() {
            return Ok(());
        }
        if destination == Destination::Taken && was_shared {
            let why = "a tensor whose buffer others share takes the result of one operation, not of several";
            return Err(Error::input("assign: the output", why));
        }
        let made = if made.shares_buffer(self) { Self::copied(&{ made }).named(op)? } else { made };
        self.check_unshared(op)?;
        copy_into(&made, self).named(op)
    }
}
