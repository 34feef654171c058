//! Tensors as operands of a plan.

use super::array::Tensor;
use crate::Result;
use crate::gpu::View;
use crate::layout::Element;

impl<T: Element> Tensor<T> {
    /// The tensor as an operand that a plan reads ([`Gpu::execute`](crate::Gpu::execute)).
    #[must_use]
    pub fn view(&self) -> View<'_> {
        self.as_view()
    }

    /// The tensor as an operand that a plan writes ([`Gpu::execute`](crate::Gpu::execute)).
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) if a clone or a view shares the tensor's buffer, unless this is a
    /// [`writable_view`](Self::writable_view).
    pub fn view_mut(&mut self) -> Result<View<'_>> {
        self.check_unshared("view_mut")?;
        Ok(self.as_view().exclusive())
    }
}
