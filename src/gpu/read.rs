//! Reading results back: the only synchronisation.

use super::fault::caught;
use super::memory::{Allocation, window};
use super::{Gpu, lock};
use crate::{Error, Result};
use futures::channel::oneshot;
use std::ops::Range;
use std::sync::Mutex;

/// Waits for submissions of our own device, so that reads complete under any executor. Its thread starts with
/// the first asynchronous read, and ends before the `Gpu` is dropped.
pub(super) struct Waiter {
    #[cfg(not(target_arch = "wasm32"))]
    thread: Mutex<Option<Thread>>,
}

#[cfg(not(target_arch = "wasm32"))]
struct Thread {
    submissions: std::sync::mpsc::Sender<wgpu::SubmissionIndex>,
    handle: std::thread::JoinHandle<()>,
}

impl Waiter {
    /// None in the browser, which needs no waiting.
    pub(super) fn new() -> Option<Self> {
        #[cfg(not(target_arch = "wasm32"))]
        return Some(Self { thread: Mutex::new(None) });
        #[cfg(target_arch = "wasm32")]
        None
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn wait_for(&self, gpu: &Gpu, index: wgpu::SubmissionIndex) -> Result<()> {
        let mut thread = lock(&self.thread);
        let running = match thread.take() {
            Some(running) => running,
            None => Thread::start(gpu)?,
        };
        let sent = thread.insert(running).submissions.send(index);
        sent.map_err(|_| Error::device("the waiting thread has ended"))
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl Thread {
    fn start(gpu: &Gpu) -> Result<Self> {
        let (submissions, receiver) = std::sync::mpsc::channel();
        // NOTE: the thread holds device and fault, not the Gpu, which would keep itself alive.
        let (device, fault) = (gpu.inner.device.clone(), gpu.inner.fault.clone());
        let wait = move || {
            while let Ok(index) = receiver.recv() {
                if let Err(error) = super::record::poll(&device, &index) {
                    fault.mark_lost(error.to_string());
                }
            }
        };
        let thread = std::thread::Builder::new().name("tilewise waiter".into());
        Ok(Self { submissions, handle: thread.spawn(wait).map_err(Error::device)? })
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl Drop for Waiter {
    /// NOTE: left alone, the thread might be the last to hold the device, and destroy it while the process exits and
    /// the driver takes itself down: a crash behind the end of `main`.
    fn drop(&mut self) {
        let thread = self.thread.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(Thread { submissions, handle }) = thread.take() {
            drop(submissions);
            // An executor may drop the last Gpu in a callback, which is in this very thread.
            if handle.thread().id() != std::thread::current().id() {
                let _ = handle.join();
            }
        }
    }
}

/// Bytes on their way from the device.
pub(crate) struct Pending {
    gpu: Gpu,
    staging: wgpu::Buffer,
    /// What was asked for, within the staging buffer.
    bytes: Range<u64>,
    index: wgpu::SubmissionIndex,
    mapped: oneshot::Receiver<Result<(), wgpu::BufferAsyncError>>,
}

impl Gpu {
    /// Submits what is recorded, and a copy of these bytes behind it.
    pub(crate) fn start_read(&self, allocation: &Allocation, bytes: Range<u64>) -> Result<Pending> {
        self.inner.fault.check()?;
        let window = window(bytes.clone());
        let size = window.end - window.start;
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let (staging, _) = self.take(&self.inner.staging, "read", size, u64::MAX, usage, "tilewise read")?;
        let copy = |encoder: &mut wgpu::CommandEncoder| {
            encoder.copy_buffer_to_buffer(allocation.buffer(), window.start, &staging, 0, size);
        };
        let mut recorder = lock(&self.inner.recorder);
        let submitted = self.submit(&mut recorder, copy);
        drop(recorder);
        let index = match submitted {
            Ok(index) => index,
            Err(error) => {
                lock(&self.inner.staging).give(staging.size(), None);
                return Err(error);
            }
        };
        let (sender, mapped) = oneshot::channel();
        staging.map_async(wgpu::MapMode::Read, 0..size, move |result| {
            // Nobody may be listening any more: the read was dropped.
            let _ = sender.send(result);
        });
        let bytes = bytes.start - window.start..bytes.end - window.start;
        Ok(Pending { gpu: self.clone(), staging, bytes, index, mapped })
    }
}

impl Pending {
    /// Waits in this thread.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn wait<R>(mut self, take: impl FnOnce(&[u8]) -> R) -> Result<R> {
        self.gpu.wait_for(&self.index)?;
        // NOTE: where another thread polls too, it may be the one that calls back, and only after the wait has ended.
        let mapped = pollster::block_on(&mut self.mapped).ok();
        self.finish(mapped, take)
    }

    /// Waits without blocking: on our own device a thread polls, an adopted one is polled by its application.
    pub(crate) async fn wait_async<R>(mut self, take: impl FnOnce(&[u8]) -> R) -> Result<R> {
        #[cfg(not(target_arch = "wasm32"))]
        if let Some(waiter) = &self.gpu.inner.waiter {
            waiter.wait_for(&self.gpu, self.index.clone())?;
        }
        let mapped = (&mut self.mapped).await.ok();
        self.finish(mapped, take)
    }

    fn finish<R>(
        &self,
        mapped: Option<Result<(), wgpu::BufferAsyncError>>,
        take: impl FnOnce(&[u8]) -> R,
    ) -> Result<R> {
        self.gpu.inner.fault.check()?;
        mapped.ok_or_else(|| Error::device("a read was given up by the device"))?.map_err(Error::device)?;
        let view = self.staging.slice(self.bytes_mapped()).get_mapped_range().map_err(Error::device)?;
        let start = usize::try_from(self.bytes.start).map_err(Error::device)?;
        let end = usize::try_from(self.bytes.end).map_err(Error::device)?;
        Ok(take(&view[start..end]))
    }

    fn bytes_mapped(&self) -> Range<u64> {
        0..self.bytes.end.next_multiple_of(4)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        // Unmapping also cancels a map that is still on its way; the queue's order protects the copy. A buffer that
        // was never mapped (the device is lost) cannot be unmapped, and is not used again.
        let unmapped = caught(&self.gpu.inner.device, || self.staging.unmap());
        let reusable = unmapped.ok().map(|()| (self.staging.clone(), 0));
        lock(&self.gpu.inner.staging).give(self.staging.size(), reusable);
    }
}
