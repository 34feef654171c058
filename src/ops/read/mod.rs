//! Reads tensors. A view with gaps is copied first, by an operation.

mod display;
#[cfg(feature = "ndarray")]
mod ndarray;

use crate::error::Named;
#[cfg(not(target_arch = "wasm32"))]
use crate::error::call;
use crate::layout::Element;
use crate::tensor::Tensor;
use crate::{Error, Result};
use std::future::Future;

impl<T: Element> Tensor<T> {
    /// Reads the elements, row-major. Submits all recorded launches and waits for them. Not available in a browser,
    /// which does not allow blocking: use [`read`](Self::read).
    ///
    /// # Errors
    /// [`Error::Device`] if the device is lost, or a launch on which these elements depend has failed;
    /// [`Error::OutOfMemory`] if there is no memory for the staging buffer or, for a view with gaps, for a contiguous
    /// copy; [`Error::Cancelled`] in [`with_progress`](crate::with_progress).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn to_vec(&self) -> Result<Vec<T>> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        call("to_vec", || {
            let whole = self.readable()?;
            self.gpu().start_read_blocking(whole.allocation(), whole.bytes())?.wait("to_vec", elements)?
        })
    }

    /// Reads the elements, row-major, without blocking. The call submits all recorded launches, so later work does not change
    /// the result. The future only waits, and completes under any executor. If pending reads take all of
    /// [`GpuOptions::staging_bytes`](crate::GpuOptions::staging_bytes), this read allocates its own buffer: await or drop
    /// earlier reads to bound that memory. Exception: on a device that was adopted with
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
            whole.and_then(|whole| self.gpu().start_read(whole.allocation(), whole.bytes())).map(Some)
        };
        let started = started.named("read");
        async move {
            match started? {
                Some(pending) => pending.wait_async(elements).await.and_then(|read| read).named("read"),
                None => Ok(Vec::new()),
            }
        }
    }

    /// Reads the elements, row-major, into `out`, without allocating a vector. Otherwise as [`to_vec`](Self::to_vec).
    ///
    /// If pending reads take all of [`GpuOptions::staging_bytes`](crate::GpuOptions::staging_bytes), this and `to_vec` first
    /// wait until the device has completed them, the oldest first. If their owners still keep the bytes, the read allocates
    /// its own buffer.
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
            let pending = self.gpu().start_read_blocking(whole.allocation(), whole.bytes())?;
            pending.wait(op, |bytes| bytemuck::cast_slice_mut(out).copy_from_slice(bytes))
        })
    }

    /// Passes the elements, row-major, to `with`, directly from the mapped staging memory. Waits without blocking, like
    /// [`read`](Self::read).
    ///
    /// Unlike [`read`](Self::read), it begins when the future is polled first. If pending reads take all of
    /// [`GpuOptions::staging_bytes`](crate::GpuOptions::staging_bytes), the future first waits until the device has completed
    /// them, the oldest first. If their owners still keep the bytes, the read allocates its own buffer. `with` should be
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
        let pending = self.gpu().start_read_async(whole.allocation(), whole.bytes()).await.named(op)?;
        let taken = pending.wait_async(|bytes| match bytemuck::try_cast_slice(bytes) {
            Ok(aligned) => Ok(with(aligned)),
            Err(_) => Ok(with(&elements(bytes)?)),
        });
        taken.await.and_then(|result| result).named(op)
    }

    /// This tensor if its elements can be copied to the host as they are, otherwise a contiguous copy.
    fn readable(&self) -> Result<Self> {
        if self.allocation().is_copy_source() { self.contiguous() } else { self.copied() }
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
