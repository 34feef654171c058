//! Counters of launches and submissions.

use crate::gpu::buffers::bound_window::{BoundWindow, WindowUse};

/// Counters of launches and submissions.
#[derive(Clone, Copy, Default)]
pub(in crate::gpu) struct Counts {
    pub(in crate::gpu) launches: u64,
    pub(in crate::gpu) submits: u64,
    pub(in crate::gpu) bytes_bound_for_reading: u64,
    pub(in crate::gpu) bytes_bound_for_writing: u64,
}

impl Counts {
    /// Counts a launch that binds these windows.
    pub(in crate::gpu) fn add(&mut self, bound: &[BoundWindow]) {
        self.launches += 1;
        for bound in bound {
            match bound.access {
                WindowUse::Read => self.bytes_bound_for_reading += bound.bytes(),
                WindowUse::Write | WindowUse::Overwrite { .. } => {
                    self.bytes_bound_for_writing += bound.bytes()
                }
            }
        }
    }

    /// Adds those of other launches.
    pub(in crate::gpu) fn add_all(&mut self, other: &Self) {
        self.launches += other.launches;
        self.submits += other.submits;
        self.bytes_bound_for_reading += other.bytes_bound_for_reading;
        self.bytes_bound_for_writing += other.bytes_bound_for_writing;
    }
}
