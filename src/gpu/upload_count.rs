//! The count of uploaded bytes in host memory. They wait there first for the next submission, then for the device. Both
//! amounts are bounded.

use super::outcome::Outcome;
use std::sync::Arc;

/// Number of uploaded bytes at which the open recording is submitted. Until then they wait in host memory.
pub(super) const MAX_STAGED_BYTES: u64 = 64 << 20;

/// Counts uploaded bytes. NOTE: wgpu keeps them in host memory until the submission that copies them has ended.
#[derive(Default)]
pub(super) struct UploadCount {
    /// Bytes since the last recording was closed.
    pub(super) staged: u64,
    /// Bytes in the recordings that were closed after `newer`.
    closed: u64,
    /// The last recording that completed a batch of [`MAX_STAGED_BYTES`] uploaded bytes. A batch counts from the
    /// recording that completed the previous one.
    newer: Option<Arc<Outcome>>,
    /// The recording that completed the batch before `newer`. The next upload waits until it has ended.
    pub(super) older: Option<Arc<Outcome>>,
}

impl UploadCount {
    /// Bytes uploaded since the last recording was closed.
    pub(super) fn staged(&self) -> u64 {
        self.staged
    }

    /// Takes the count of bytes that taken work will bring to the queue at the latest.
    pub(super) fn take_staged(&mut self) -> u64 {
        std::mem::take(&mut self.staged)
    }

    /// Records that the recording with this outcome is closed.
    pub(super) fn close(&mut self, outcome: &Arc<Outcome>) {
        self.closed += std::mem::take(&mut self.staged);
        if self.closed >= MAX_STAGED_BYTES {
            self.closed = 0;
            self.older = self.newer.replace(outcome.clone());
        }
    }
}
