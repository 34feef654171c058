//! Room in the rings of staging buffers: what reads and uploads share.

use crate::gpu::driver::completion::{Completion, SignalOnDrop};
use crate::gpu::driver::lock::foreign;
use crate::gpu::handle::gpu::Gpu;
use crate::gpu::record::reads::ReadBuffer;
use crate::gpu::record::staging_ring::{Asked, StagingOwner, StagingRing};
use crate::{Error, Result};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;

impl Gpu {
    /// The buffer that a ring answers with, if it has room. A new one has these usages. One that the host writes is mapped.
    pub(super) fn staging_buffer(
        &self,
        op: &'static str,
        ring: &StagingRing,
        asked: Asked,
        usage: wgpu::BufferUsages,
    ) -> Result<Option<ReadBuffer>> {
        let (size, place) = match asked {
            Asked::Full => return Ok(None),
            Asked::Free(buffer) => return Ok(Some((buffer, StagingOwner::InRing))),
            Asked::Create(size, place, evicted) => {
                drop(evicted);
                (size, place)
            }
        };
        let label = Some("tilewise staging");
        let mapped_at_creation = usage.contains(wgpu::BufferUsages::MAP_WRITE);
        let desc = wgpu::BufferDescriptor { label, size, usage, mapped_at_creation };
        let created = self.create(op, &desc).inspect_err(|_| ring.give(size, place, None))?;
        Ok(Some((created, place)))
    }

    /// Waits without blocking until the submission is done or a buffer is freed. Returns whether the submission is done.
    pub(in crate::gpu) async fn done_or_freed(
        &self,
        index: wgpu::SubmissionIndex,
        freed: &Arc<Completion>,
    ) -> Result<bool> {
        let done = Arc::<Completion>::default();
        #[cfg(not(target_arch = "wasm32"))]
        let is_polled = match &self.inner.waiter {
            None => false,
            Some(waiter) => {
                waiter.wait_for(&self.inner.device, Some(index), &done)?;
                true
            }
        };
        #[cfg(target_arch = "wasm32")]
        let is_polled = {
            drop(index); // A browser does not wait for a submission.
            false
        };
        if !is_polled {
            // The application polls, or the browser.
            let signal = SignalOnDrop(done.clone());
            foreign(|| self.inner.queue.on_submitted_work_done(move || drop(signal)));
        }
        self.inner.status.signal_if_lost(freed);
        let is_signalled = |completion: &Completion| completion.is_signalled.load(Ordering::Acquire);
        poll_fn(|context| {
            freed.waker.register(context.waker());
            done.waker.register(context.waker());
            if is_signalled(freed) || is_signalled(&done) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        Ok(is_signalled(&done))
    }
}

pub(super) fn lost() -> Error {
    Error::device("a staging buffer was lost: please report this")
}
