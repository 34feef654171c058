//! Reads tensors and overwrites them from the host.

use super::array::Tensor;
use crate::error::Named;
use crate::error::call;
use crate::gpu::{ElementWriter, SeenBy};
use crate::layout::Element;
use crate::{Error, Result};
use std::future::Future;

impl<T: Element> Tensor<T> {
    /// Reads the elements, row-major. Submits all recorded launches and waits for them. Not available in a browser,
    /// which does not allow blocking: use [`read`](Self::read).
    ///
    /// # Errors
    /// [`Error::Device`] if the device is lost, or a launch that these elements depend on has failed;
    /// [`Error::OutOfMemory`] if there is no memory for the staging buffer or, for a view with gaps, for a contiguous
    /// copy.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn to_vec(&self) -> Result<Vec<T>> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        call("to_vec", || {
            let whole = self.readable()?;
            self.gpu().start_read(&whole.storage, whole.bytes())?.wait(elements)?
        })
    }

    /// Reads the elements, row-major, without blocking. The call submits all recorded launches; the future only waits,
    /// and completes under any executor. Exception: on a device that was adopted with
    /// [`Polling::Application`](crate::gpu::Polling::Application), it completes when the application polls the device.
    ///
    /// # Errors
    /// [`Error::Device`] if the device is lost, or a launch that these elements depend on has failed;
    /// [`Error::OutOfMemory`] if there is no memory for the staging buffer or, for a view with gaps, for a contiguous
    /// copy.
    pub fn read(&self) -> impl Future<Output = Result<Vec<T>>> + use<T> {
        let started = if self.is_empty() {
            Ok(None)
        } else {
            let whole = self.readable();
            whole.and_then(|whole| self.gpu().start_read(&whole.storage, whole.bytes())).map(Some)
        };
        let started = started.named("read");
        async move {
            match started? {
                Some(pending) => pending.wait_async(elements).await.and_then(|read| read).named("read"),
                None => Ok(Vec::new()),
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

    /// This tensor if its elements can be copied to the host as they are, otherwise a contiguous copy.
    fn readable(&self) -> Result<Self> {
        if self.storage.is_copy_source() { self.contiguous() } else { self.copied() }
    }
}

/// Copies a staging buffer's bytes, of any alignment, as elements. The caller renames the error after the function that
/// the user called.
fn elements<T: Element>(bytes: &[u8]) -> Result<Vec<T>> {
    let len = bytes.len() / size_of::<T>();
    let mut elements = Vec::new();
    let reserved = elements.try_reserve_exact(len);
    reserved.map_err(|_| Error::OutOfMemory { op: "read", needed: bytes.len() as u64, available: None })?;
    elements.resize(len, T::zeroed());
    bytemuck::cast_slice_mut(&mut elements).copy_from_slice(bytes);
    Ok(elements)
}
