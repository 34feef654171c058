//! Writes into tensors: the check for unique ownership, and errors between two launches.

use super::array::{Tensor, Writers};
use crate::gpu::View;
use crate::layout::{Element, Layout};
use crate::{Error, Result};
use std::sync::Arc;

impl<T: Element> Tensor<T> {
    /// Checks that the tensor may be overwritten: that its buffer is uniquely owned, or that it is a writable view.
    pub(crate) fn check_unshared(&self, op: &'static str) -> Result<()> {
        match (self.writers, Arc::strong_count(&self.storage)) {
            (Writers::AnyView, _) | (_, 1) => Ok(()),
            (Writers::SoleOwner, holders) => {
                let others = holders - 1;
                let tensors = if others == 1 { "tensor" } else { "tensors" };
                let why = format!(
                    "its buffer is shared with {others} other {tensors} (clones, views, or other tensors of one buffer); \
                     if they may see what is written, pass a `writable_view`"
                );
                Err(Error::input(format!("{op}: the output"), why))
            }
        }
    }

    /// Takes the elements that the tensor had before commands that never ran as its elements.
    ///
    /// If the closure of [`Gpu::record_into`](crate::Gpu::record_into) fails, or an application drops the encoder or wgpu refuses
    /// it, then what the closure should have written counts as never computed: reading it is an error, because a program may
    /// have gone on as if it had been written. Yet the old elements are still there. A program that goes back to them, such as
    /// training whose frame was lost, says so by this call, for each tensor that it goes on with.
    ///
    /// Only this tensor's elements are taken back, not those of other views of its buffer. Those of a tensor that was new in the
    /// closure are unspecified, as after [`Gpu::empty`](crate::Gpu::empty). If nothing is missing, nothing happens.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// let mut weights = gpu.tensor(&[1.0f32, 2.0], [2])?;
    /// let step = gpu.tensor(&[0.5f32, 0.5], [2])?;
    /// let mut encoder = gpu.device().create_command_encoder(&Default::default());
    /// gpu.record_into(&mut encoder, || tilewise::ops::sub_assign(&mut weights, &step))?;
    /// drop(encoder); // the swapchain was lost, say
    /// assert!(weights.to_vec().is_err());
    /// weights.revert()?;
    /// assert_eq!(weights.to_vec()?, [1.0, 2.0]);
    /// # Ok(())
    /// # }
    /// ```
    /// # Errors
    /// [`Error::Input`] if commands that the application has not submitted use the tensor, and in the closure of
    /// [`Gpu::record_into`](crate::Gpu::record_into) or [`Gpu::capture`](crate::Gpu::capture); [`Error::Device`] if some
    /// elements are missing for another reason, such as a launch that the device refused after others of the same operation, or
    /// commands of [`Gpu::take_commands`](crate::Gpu::take_commands), or if the device is lost.
    pub fn revert(&self) -> Result<()> {
        self.as_view().revert("revert")
    }

    /// Whether another tensor shares the buffer.
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.storage) > 1
    }

    /// Runs `write` with the tensor's layout temporarily narrowed to one part. The buffer stays uniquely owned.
    pub(crate) fn write_part<R>(&mut self, part: Layout, write: impl FnOnce(&mut Self) -> R) -> R {
        let whole = std::mem::replace(&mut self.layout, part);
        let written = write(self);
        self.layout = whole;
        written
    }

    /// Runs `write`, which may launch several kernels that write to the tensor. If it fails between two launches,
    /// reading the tensor is an error from then on.
    pub(crate) fn write_with<R>(&self, write: impl FnOnce(View<'_>) -> Result<R>) -> Result<R> {
        self.written_from(self.storage.begin_write(), self.as_view(), write)
    }

    /// As [`write_with`](Self::write_with), for a `write` that writes every element and reads none.
    pub(crate) fn overwrite_with<R>(&self, write: impl FnOnce(View<'_>) -> Result<R>) -> Result<R> {
        let begun = self.storage.begin_write();
        self.written_from(begun, self.as_view().overwritten_from(begun), write)
    }

    fn written_from<'a, R>(
        &'a self,
        begun: u64,
        view: View<'a>,
        write: impl FnOnce(View<'a>) -> Result<R>,
    ) -> Result<R> {
        write(view).inspect_err(|error| view.fail_if_written_since(begun, error))
    }
}
