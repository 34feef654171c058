//! The ring of reads, and the reads under way.

use super::staging_ring::{StagingOwner, StagingRing};
use crate::gpu::driver::completion::Completion;
use crate::gpu::driver::lock::Lock;
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

/// The ring of reads. Its free buffers are not mapped, so that the device may copy to them.
pub(in crate::gpu) struct Reads {
    pub(in crate::gpu) ring: StagingRing,
    /// Reads in the order of their submission. Some may be gone.
    under_way: Lock<VecDeque<(Weak<Completion>, wgpu::SubmissionIndex)>>,
}

/// A staging buffer for one read, and where it belongs.
pub(in crate::gpu) type ReadBuffer = (wgpu::Buffer, StagingOwner);

impl Reads {
    pub(in crate::gpu) fn new(limit: Option<u64>, largest: u64) -> Self {
        Self { ring: StagingRing::new(limit, largest), under_way: Lock::default() }
    }

    /// A read is submitted.
    pub(in crate::gpu) fn add(&self, completion: &Arc<Completion>, index: &wgpu::SubmissionIndex) {
        let mut under_way = self.under_way.lock();
        if under_way.len() == under_way.capacity() {
            under_way.retain(|(completion, _)| completion.strong_count() > 0);
        }
        under_way.push_back((Arc::downgrade(completion), index.clone()));
    }

    /// Takes the submission of the oldest read that the device may not have completed out of the list. It is waited for
    /// once: if its bytes are not returned then, its owner keeps them.
    pub(in crate::gpu) fn take_oldest(&self) -> Option<wgpu::SubmissionIndex> {
        loop {
            // NOTE: the last drop of a completion drops a waker, which is foreign code, so none is dropped under the lock.
            let oldest = self.under_way.lock().pop_front();
            let (completion, index) = oldest?;
            let is_pending = |completion: &Completion| !completion.called_back.load(Ordering::Acquire);
            if completion.upgrade().is_some_and(|completion| is_pending(&completion)) {
                return Some(index);
            }
        }
    }
}
