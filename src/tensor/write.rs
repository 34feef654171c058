//! Writes into tensors: from the host, the check for unique ownership, and errors between two launches.

use super::array::{Tensor, Writers};
use crate::error::call;
use crate::gpu::{ElementWriter, SeenBy, View};
use crate::layout::{Element, Layout};
use crate::{Error, Result};
use std::sync::Arc;

impl<T: Element> Tensor<T> {
    /// Checks that the tensor may be overwritten: its buffer is uniquely owned, or it is a writable view.
    pub(crate) fn check_unshared(&self, op: &'static str) -> Result<()> {
        match (self.writers, Arc::strong_count(&self.storage)) {
            (Writers::AnyView, _) | (_, 1) | (Writers::Lent, 2) => Ok(()),
            (Writers::SoleOwner | Writers::Lent, holders) => {
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

    /// Replaces the elements, row-major, after everything that was recorded before.
    ///
    /// # Errors
    /// [`Error::Shape`] if `data` has another length; [`Error::Input`] if another tensor shares the buffer, if this
    /// tensor is a view with gaps or transposed axes, if it begins within a word of 4 bytes or ends within one that others
    /// may see, or if an application's buffer lacks `BufferUsages::COPY_DST`.
    pub fn write(&mut self, data: &[T]) -> Result<()> {
        self.check_unshared("write")?;
        let seen_by = if self.is_shared() { SeenBy::Others } else { SeenBy::Writer };
        self.gpu().write_elements("write", self.storage.storage(), (&self.layout, seen_by), data)
    }

    /// Replaces the elements, row-major, by those that `fill` writes, after everything that was recorded before.
    ///
    /// `fill` writes them straight into staging memory. The copy from there to the tensor is recorded like a launch, in
    /// order. So, unlike [`write`](Self::write), it does not submit what was recorded before, and the host can fill the next
    /// elements while the device still computes with the last ones. Elements that `fill` leaves out are unspecified.
    ///
    /// Staging memory is bounded ([`GpuOptions::staging_bytes`](crate::GpuOptions::staging_bytes)). If it is all in use,
    /// the call submits what is recorded and waits until the device has copied the oldest elements. In the closure of
    /// [`Gpu::record_into`](crate::Gpu::record_into), in a browser, and if all of it is in commands that an application has
    /// not submitted, nothing waits: the elements take a buffer of their own, which is freed after the copy. Elements that
    /// are larger than the bound do so, too, after all others are copied.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// let mut x = gpu.zeros::<f32>([2, 2])?;
    /// gpu.flush()?;
    /// let submits = gpu.stats().submits;
    /// let mut squares = Vec::new();
    /// for step in 0..3u8 {
    ///     x.write_from(|elements| elements.fill(step.into()))?;
    ///     squares.push(tilewise::matmul(&x, &x)?);
    /// }
    /// assert_eq!(gpu.stats().submits, submits); // three writes and three products in one recording
    /// assert_eq!(squares[2].to_vec()?, [8.0; 4]);
    /// # Ok(())
    /// # }
    /// ```
    /// # Errors
    /// [`Error::Input`] if another tensor shares the buffer, if this tensor is a view with gaps or transposed axes, if it
    /// begins within a word of 4 bytes or ends within one that others may see, if an application's buffer lacks
    /// `BufferUsages::COPY_DST`, or in the closure of [`Gpu::capture`](crate::Gpu::capture); [`Error::OutOfMemory`] if
    /// there is no memory for a staging buffer; [`Error::Device`] if the device is lost.
    pub fn write_from(&mut self, fill: impl FnOnce(&mut ElementWriter<'_, T>)) -> Result<()> {
        self.check_unshared("write_from")?;
        let seen_by = if self.is_shared() { SeenBy::Others } else { SeenBy::Writer };
        call("write_from", || {
            self.gpu().write_staged("write_from", self.storage.storage(), (&self.layout, seen_by), fill)
        })
    }

    /// Takes the elements that the tensor had before commands that never ran as its elements.
    ///
    /// If the closure of [`Gpu::record_into`](crate::Gpu::record_into) fails, or an application drops the encoder or wgpu refuses
    /// it, the outputs of the closure count as never computed. Reading them is an error, because the program may rely on the new
    /// elements. But the old elements are still in memory. A program that continues with them, such as training after a lost
    /// frame, calls this for each tensor that it continues with.
    ///
    /// The call covers only this tensor's elements, not those of other views of its buffer. If the tensor was created in the
    /// closure, its elements are unspecified, as after [`Gpu::empty`](crate::Gpu::empty). If no elements are missing, the call
    /// has no effect.
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

    /// The number of tensors that share the buffer, this one included.
    pub(crate) fn holders(&self) -> usize {
        Arc::strong_count(&self.storage)
    }

    /// Whether an operation wrote the tensor as the destination of [`assign`](Self::assign).
    pub(crate) fn is_lent(&self) -> bool {
        self.writers == Writers::Lent
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
