//! The count of uploads: they wait in host memory for the next submission, and then for the device. There is a bound for both.

use super::recording::Outcome;
use std::sync::Arc;

/// After this many uploaded bytes, which wait in host memory for the next submission, there is one.
pub(super) const STAGED_AT_MOST: u64 = 64 << 20;

/// Counts uploaded bytes. NOTE: wgpu keeps them in host memory until the submission that copies them has ended.
#[derive(Default)]
pub(super) struct Uploads {
    /// Bytes since the last recording was closed.
    pub(super) staged: u64,
    /// Bytes in the recordings that were closed since `newer` was.
    closed: u64,
    /// A recording with [`STAGED_AT_MOST`] bytes in it or since the one before: the last such.
    newer: Option<Arc<Outcome>>,
    /// The one before that. The next upload waits until it has ended.
    pub(super) older: Option<Arc<Outcome>>,
}

impl Uploads {
    /// How many bytes were uploaded since the last recording was closed.
    pub(super) fn staged(&self) -> u64 {
        self.staged
    }

    /// Notes that the recording with this outcome is closed.
    pub(super) fn close(&mut self, outcome: &Arc<Outcome>) {
        self.closed += std::mem::take(&mut self.staged);
        if self.closed >= STAGED_AT_MOST {
            self.closed = 0;
            self.older = self.newer.replace(outcome.clone());
        }
    }
}
