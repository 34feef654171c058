//! Reads results back to the host.

use crate::gpu::buffers::content_state::reports;
use crate::gpu::buffers::failures::Reader;
use crate::gpu::buffers::part::Part;
use crate::gpu::buffers::storage::StorageAccess;
use crate::gpu::driver::completion::{Completion, SignalOnDrop};
use crate::gpu::driver::error_scope::in_error_scope;
use crate::gpu::driver::lock::foreign;
use crate::gpu::handle::gpu::{Allocation, Gpu};
use crate::gpu::record::reads::ReadBuffer;
use crate::gpu::record::scope::OwnScope;
use crate::gpu::record::staging_ring::StagingOwner;
use crate::gpu::record::work::Tail;
use crate::layout::window;
use crate::{Error, Result};
use std::future::poll_fn;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;

/// A read that has been submitted: a staging buffer that the device copies to.
pub(crate) struct Pending {
    gpu: Gpu,
    staging: wgpu::Buffer,
    place: StagingOwner,
    /// The requested bytes, as a range of the staging buffer.
    bytes: Range<u64>,
    /// None if the thread that submitted the copy is still in a callback: only that thread knows the index.
    index: Option<wgpu::SubmissionIndex>,
    completion: Arc<Completion>,
}

impl Gpu {
    /// Submits the open recording, followed by a copy of these bytes to a staging buffer. Waits for nothing: if the ring of
    /// reads is full, the staging buffer is one beyond it.
    pub(crate) fn start_read(&self, allocation: &Allocation, bytes: Range<u64>) -> Result<Pending> {
        self.check_read(allocation, &bytes)?;
        let staging = self.read_buffer("read", size_of_window(&bytes))?;
        self.start_read_to(staging, allocation, bytes)
    }

    /// As [`start_read`](Self::start_read), but waits if the ring of reads is full.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn start_read_blocking(&self, allocation: &Allocation, bytes: Range<u64>) -> Result<Pending> {
        self.check_read(allocation, &bytes)?;
        let staging = self.read_buffer_blocking("read", size_of_window(&bytes))?;
        self.start_read_to(staging, allocation, bytes)
    }

    /// As [`start_read`](Self::start_read), but waits without blocking if the ring of reads is full.
    pub(crate) async fn start_read_async(
        &self,
        allocation: &Allocation,
        bytes: Range<u64>,
    ) -> Result<Pending> {
        self.check_read(allocation, &bytes)?;
        let staging = self.read_buffer_async("read", size_of_window(&bytes)).await?;
        self.start_read_to(staging, allocation, bytes)
    }

    fn check_read(&self, allocation: &Allocation, bytes: &Range<u64>) -> Result<()> {
        self.inner.status.check()?;
        self.check_outside_scope("read", "submits and waits")?;
        let used = (&**allocation.storage(), StorageAccess::Reads);
        self.bring_word("read", allocation.storage())?;
        self.check_taken("read", used, OwnScope::Counts)?;
        allocation.storage().contents.check(&Part::Bytes(bytes.clone()))
    }

    fn start_read_to(
        &self,
        (staging, place): ReadBuffer,
        allocation: &Allocation,
        bytes: Range<u64>,
    ) -> Result<Pending> {
        let used = (&**allocation.storage(), StorageAccess::Reads);
        let (window, elements) = (window(bytes.clone()), Part::Bytes(bytes.clone()));
        let source = allocation.storage().clone();
        let (gpu, completion) = (self.clone(), Arc::default());
        let part = bytes.start - window.start..bytes.end - window.start;
        // From here on, the drop of `pending` returns the staging buffer.
        let mut pending = Pending { gpu, staging, place, bytes: part, index: None, completion };
        self.check_outside_scope("read", "submits and waits")?;
        // Checked again, because time may have passed.
        let reports = reports();
        source.contents.check(&elements)?;
        let mut state = self.lock_ordered("read", std::iter::once(used))?;
        let (since, sequence) = (source.contents.last_whole_write(), state.next_sequence());
        source.contents.note_use(state.open.number);
        let outcome = state.open.outcome.clone();
        let tail = Tail::Read { source: source.clone(), window, staging: pending.staging.clone() };
        let number = state.close(Some(tail));
        drop(state);
        self.submit_up_to(number)?;
        pending.index = self.index_of(&outcome)?;
        self.inner.status.check()?;
        let reader = Reader { sequence, reports, since };
        if let Some(why) = source.contents.failure_before(reader, &elements) {
            return Err(Error::device(why.to_string()));
        }
        if let Some(index) = &pending.index {
            self.inner.reads.add(&pending.completion, index);
        }
        pending.map()?;
        Ok(pending)
    }
}

impl Pending {
    fn map(&self) -> Result<()> {
        let signal = SignalOnDrop(self.completion.clone());
        let called_back = move |mapped: Result<(), wgpu::BufferAsyncError>| {
            let SignalOnDrop(completion) = &signal;
            completion.was_refused.store(mapped.is_err(), Ordering::Release);
            completion.called_back.store(true, Ordering::Release);
        };
        let map = || self.staging.map_async(wgpu::MapMode::Read, self.bytes_mapped(), called_back);
        self.gpu.caught(|| foreign(map))
    }

    /// Waits in the calling thread, which polls the device, and reports meanwhile as the function `call`.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn wait<R>(self, call: &'static str, take: impl FnOnce(&[u8]) -> R) -> Result<R> {
        match &self.index {
            Some(index) => {
                let is_done = || self.completion.is_signalled.load(Ordering::Acquire);
                self.gpu.wait_reported(call, is_done)?;
                self.gpu.wait_for(index)?;
            }
            None => crate::gpu::driver::poll::poll(&self.gpu.inner.device, None)?,
        }
        self.finish(take)
    }

    /// Waits without blocking. A thread of this crate polls, unless the application does ([`Polling`](crate::gpu::Polling)).
    pub(crate) async fn wait_async<R>(self, take: impl FnOnce(&[u8]) -> R) -> Result<R> {
        #[cfg(not(target_arch = "wasm32"))]
        if let Some(waiter) = &self.gpu.inner.waiter {
            waiter.wait_for(&self.gpu.inner.device, self.index.clone(), &self.completion)?;
        }
        self.gpu.inner.status.signal_if_lost(&self.completion);
        poll_fn(|context| {
            self.completion.waker.register(context.waker());
            if self.completion.is_signalled.load(Ordering::Acquire) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        self.finish(take)
    }

    /// Takes the bytes from the staging buffer. NOTE: it does not wait for our map callback. The bytes are available as
    /// soon as any thread has polled, but that thread may have to run other callbacks before ours.
    ///
    /// NOTE: a device whose loss was not reported refuses maps at once, and does not unmap either. So a buffer that an
    /// earlier read has mapped would still contain the earlier bytes.
    fn finish<R>(&self, take: impl FnOnce(&[u8]) -> R) -> Result<R> {
        self.gpu.inner.status.check()?;
        if self.completion.was_refused.load(Ordering::Acquire) {
            self.gpu.check_for_loss();
            self.gpu.inner.status.check()?;
            return Err(Error::device("the device refused to map the bytes of a read"));
        }
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
    /// NOTE: wgpu completes a cancelled map later, and then completes another map of the same buffer in its place. So
    /// the buffer is reused only if the callback of its map has run.
    fn drop(&mut self) {
        let called_back = self.completion.called_back.load(Ordering::Acquire);
        let unmapped = called_back && in_error_scope(&self.gpu.inner.device, || self.staging.unmap()).is_ok();
        let is_reusable = unmapped && self.place == StagingOwner::InRing;
        let ring = &self.gpu.inner.reads.ring;
        ring.give(self.staging.size(), self.place, is_reusable.then(|| self.staging.clone()));
    }
}

/// Size of the staging buffer for these bytes.
fn size_of_window(bytes: &Range<u64>) -> u64 {
    let window = window(bytes.clone());
    window.end - window.start
}
