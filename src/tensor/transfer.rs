//! Reads tensors and overwrites them from the host.

use super::array::Tensor;
use crate::error::Named;
#[cfg(not(target_arch = "wasm32"))]
use crate::error::call;
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
            let whole = self.contiguous()?;
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
            let whole = self.contiguous();
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
    /// [`Error::Shape`] if `data` has another length; [`Error::Input`] if another tensor shares the buffer, or this
    /// tensor is a view.
    pub fn write(&mut self, data: &[T]) -> Result<()> {
        let op = "write";
        if data.len() != self.len() {
            let rule = "the data must have as many elements as the tensor";
            return Err(Error::shapes(op, rule, &[data.len()], self.shape()));
        }
        self.check_unshared(op)?;
        if self.layout.offset() != 0 || !self.layout.is_contiguous() {
            return Err(Error::input("write: the output", format!("it is a view: {:?}", self.layout)));
        }
        self.gpu().overwrite(&self.storage, bytemuck::cast_slice(data))
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
