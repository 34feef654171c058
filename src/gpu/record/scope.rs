//! The scope of `record_into` and of `capture`: the work that one thread records while its closure runs.

use super::captured::Captured;
use super::new_launch::NewLaunch;
use super::recording::Recording;
use crate::gpu::buffers::storage::{StorageAccess, note_uses};
use crate::gpu::buffers::taken_work::TakenWork;
use std::sync::Arc;
use std::thread::ThreadId;

/// Whether the thread's launches go into its scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gpu) enum Scoped {
    Active,
    /// They do not now: wgpu may run callbacks, whose launches do not belong to the scope.
    Suspended,
}

/// The work of one thread, separate from the open recording of the others.
pub(in crate::gpu) struct Scope {
    pub(in crate::gpu) thread: ThreadId,
    pub(in crate::gpu) scoped: Scoped,
    pub(in crate::gpu) work: Arc<TakenWork>,
    pub(in crate::gpu) sink: Sink,
}

/// Where the launches of a scope go.
pub(in crate::gpu) enum Sink {
    /// Into commands of the application, which run once.
    Recording(Recording),
    /// Into a replay.
    Capture(Captured),
}

/// Whether the calling thread's own scope counts as taken work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gpu) enum OwnScope {
    /// It does not: the use is recorded in it, in order.
    IsOrdered,
    /// It does: the use is not recorded.
    Counts,
}

/// Number of a scope's recording. Numbers say in which order this crate submits recordings, and it does not submit this
/// one. Its storages know the taken work instead.
const UNNUMBERED: u64 = 0;

impl Scope {
    /// A scope of the calling thread.
    pub(in crate::gpu) fn new(work: Arc<TakenWork>, sink: Sink) -> Self {
        Self { thread: std::thread::current().id(), scoped: Scoped::Active, work, sink }
    }

    /// Adds a launch.
    pub(in crate::gpu) fn push(&mut self, launch: NewLaunch<'_>, sequence: u64) {
        let bound = launch.bound.iter();
        match &mut self.sink {
            Sink::Recording(recording) => {
                note_uses(&self.work, bound.map(|bound| (&*bound.storage, bound.taken_access())));
                recording.push(launch, sequence);
            }
            // NOTE: nothing runs, so nothing is written now.
            Sink::Capture(captured) => {
                note_uses(&self.work, bound.map(|bound| (&*bound.storage, StorageAccess::Reads)));
                captured.push(launch, sequence);
            }
        }
    }
}

impl Sink {
    /// Of a `record_into`.
    pub(in crate::gpu) fn recording() -> Self {
        Self::Recording(Recording::new(UNNUMBERED))
    }
}
