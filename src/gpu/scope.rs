//! The scope of `record_into`: the recording of one thread while its closure runs.

use super::recording::Recording;
use super::taken_work::TakenWork;
use std::sync::Arc;
use std::thread::ThreadId;

/// What one thread records for the commands of an application, apart from the open recording of the others.
pub(super) struct Scope {
    pub(super) thread: ThreadId,
    pub(super) work: Arc<TakenWork>,
    pub(super) recording: Recording,
}

/// Number of a scope's recording. Numbers say in which order this crate submits recordings, and it does not submit this
/// one. Its storages know the taken work instead.
const UNNUMBERED: u64 = 0;

impl Scope {
    pub(super) fn new(thread: ThreadId, work: Arc<TakenWork>) -> Self {
        Self { thread, work, recording: Recording::new(UNNUMBERED) }
    }
}
