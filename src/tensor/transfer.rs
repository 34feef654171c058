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
    /// copy; [`Error::Cancelled`] in [`with_progress`](crate::with_progress).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn to_vec(&self) -> Result<Vec<T>> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        call("to_vec", || {
            let whole = self.readable()?;
            self.gpu().start_read_blocking(&whole.storage, whole.bytes())?.wait("to_vec", elements)?
        })
    }

    /// Reads the elements, row-major, without blocking. The call submits all recorded launches, so it fixes what is read; the
    /// future only waits, and completes under any executor. If the reads that are under way take all of
    /// [`GpuOptions::staging_bytes`](crate::GpuOptions::staging_bytes), this one takes a buffer of its own: await or drop
    /// earlier ones to bound that. Exception: on a device that was adopted with
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

    /// Reads the elements, row-major, into `out`, without a vector of their own. Otherwise as [`to_vec`](Self::to_vec).
    ///
    /// If the reads that are under way take all of [`GpuOptions::staging_bytes`](crate::GpuOptions::staging_bytes), this and
    /// `to_vec` first wait until the device has completed them, the oldest first. If their owners still keep the bytes, the
    /// read takes a buffer of its own.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// let x = gpu.tensor(&[1.0f32, 2.0, 3.0], [3])?;
    /// let mut out = [0.0; 3];
    /// x.read_into(&mut out)?;
    /// assert_eq!(out, [1.0, 2.0, 3.0]);
    /// # Ok(())
    /// # }
    /// ```
    /// # Errors
    /// [`Error::Shape`] if `out` has another length; otherwise as [`to_vec`](Self::to_vec).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn read_into(&self, out: &mut [T]) -> Result<()> {
        let op = "read_into";
        if out.len() != self.len() {
            let rule = "`out` must have as many elements as the tensor";
            return Err(Error::shapes(op, rule, &[out.len()], self.shape()));
        }
        if self.is_empty() {
            return Ok(());
        }
        call(op, || {
            let whole = self.readable()?;
            let pending = self.gpu().start_read_blocking(&whole.storage, whole.bytes())?;
            pending.wait(op, |bytes| bytemuck::cast_slice_mut(out).copy_from_slice(bytes))
        })
    }

    /// Passes the elements, row-major, to `with`, straight from the memory that the device has copied them to. Waits without
    /// blocking, like [`read`](Self::read).
    ///
    /// Unlike [`read`](Self::read), it begins when the future is polled first. If the reads that are under way take all of
    /// [`GpuOptions::staging_bytes`](crate::GpuOptions::staging_bytes), the future first waits until the device has completed
    /// them, the oldest first. If their owners still keep the bytes, the read takes a buffer of its own. `with` should be
    /// short: other reads may wait for the memory.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// let x = gpu.tensor(&[1.0f32, 2.0, 3.0], [3])?;
    /// let sum = pollster::block_on(x.read_with(|values| values.iter().sum::<f32>()))?;
    /// assert_eq!(sum, 6.0);
    /// # Ok(())
    /// # }
    /// ```
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn read_with<R>(&self, with: impl FnOnce(&[T]) -> R) -> Result<R> {
        let op = "read_with";
        if self.is_empty() {
            return Ok(with(&[]));
        }
        let whole = self.readable().named(op)?;
        let pending = self.gpu().start_read_async(&whole.storage, whole.bytes()).await.named(op)?;
        let taken = pending.wait_async(|bytes| match bytemuck::try_cast_slice(bytes) {
            Ok(aligned) => Ok(with(aligned)),
            Err(_) => Ok(with(&elements(bytes)?)),
        });
        taken.await.and_then(|result| result).named(op)
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
