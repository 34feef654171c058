//! The count of uploaded bytes in host memory. They wait there first for the next submission, then for the device. Both
//! amounts are bounded.

use crate::gpu::buffers::outcome::Outcome;
use std::sync::Arc;

/// Number of uploaded bytes at which the open recording is submitted. Until then they wait in host memory.
pub(in crate::gpu) const MAX_STAGED_BYTES: u64 = 64 << 20;

/// Counts uploaded bytes. NOTE: wgpu keeps them in host memory until the submission that copies them has ended.
#[derive(Default)]
pub(in crate::gpu) struct UploadCount {
    /// Bytes since the last recording was closed.
    pub(in crate::gpu) staged: u64,
    /// Bytes in the recordings that were closed after `newer`.
    closed: u64,
    /// The last recording that completed a batch of [`MAX_STAGED_BYTES`] uploaded bytes. A batch counts from the
    /// recording that completed the previous one.
    newer: Option<Arc<Outcome>>,
    /// The recording that completed the batch before `newer`. The next upload waits until it has ended.
    pub(in crate::gpu) older: Option<Arc<Outcome>>,
}

impl UploadCount {
    /// Bytes uploaded since the last recording was closed.
    pub(in crate::gpu) fn staged(&self) -> u64 {
        self.staged
    }

    /// Takes the count of bytes that taken work will bring to the queue at the latest.
    pub(in crate::gpu) fn take_staged(&mut self) -> u64 {
        std::mem::take(&mut self.staged)
    }

    /// Records that the recording with this outcome is closed.
    pub(in crate::gpu) fn close(&mut self, outcome: &Arc<Outcome>) {
        self.closed += std::mem::take(&mut self.staged);
        if self.closed >= MAX_STAGED_BYTES {
            self.closed = 0;
            self.older = self.newer.replace(outcome.clone());
        }
    }
}
