//! The scope of `record_into`: the recording of one thread while its closure runs.

use super::recording::Recording;
use super::taken_work::TakenWork;
use std::sync::Arc;
use std::thread::ThreadId;

/// Whether what the thread records goes into its scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scoped {
    Active,
    /// It does not now: wgpu may run callbacks, which record for themselves.
    Suspended,
}

/// What one thread records for the commands of an application, apart from the open recording of the others.
pub(super) struct Scope {
    pub(super) thread: ThreadId,
    pub(super) scoped: Scoped,
    pub(super) work: Arc<TakenWork>,
    pub(super) recording: Recording,
}

/// Whether the calling thread's own scope counts as taken work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OwnScope {
    /// It does not: the use is recorded in it, in order.
    IsOrdered,
    /// It does: the use is not recorded.
    Counts,
}

/// Number of a scope's recording. Numbers say in which order this crate submits recordings, and it does not submit this
/// one. Its storages know the taken work instead.
const UNNUMBERED: u64 = 0;

impl Scope {
    pub(super) fn new(thread: ThreadId, work: Arc<TakenWork>) -> Self {
        Self { thread, scoped: Scoped::Active, work, recording: Recording::new(UNNUMBERED) }
    }
}
