//! The storage of a tensor: a buffer, the state of its contents, and the taken work that uses it. Before the application
//! has submitted such work, the storages that it writes may not be read or written, and those that it reads may not be
//! written.

use super::content_state::ContentState;
use super::cursor::Cursor;
use super::taken_work::{TakenStage, TakenWork};
use crate::gpu::driver::lock::Lock;
use crate::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};

/// A buffer, from the pool or of an application, and the state of its contents. Tensors and recordings share it.
pub(crate) struct Storage {
    pub(in crate::gpu) buffer: wgpu::Buffer,
    /// Requested size in bytes; for a buffer of an application, its size. A write of that many bytes from the start is a
    /// write of the whole storage.
    pub(in crate::gpu) len: u64,
    pub(in crate::gpu) contents: Arc<ContentState>,
    /// The work of applications that uses it.
    pub(in crate::gpu) taken: TakenUses,
    /// The cursor whose word is stored here, if any.
    pub(in crate::gpu) cursor: OnceLock<Arc<Cursor>>,
    exported: AtomicBool,
    /// The number of captures whose closures are running and that have it as an input.
    marked: AtomicI32,
}

impl Storage {
    pub(in crate::gpu) fn new(buffer: wgpu::Buffer, len: u64, contents: ContentState) -> Self {
        let (contents, taken, cursor) = (Arc::new(contents), TakenUses::default(), OnceLock::new());
        let (exported, marked) = (AtomicBool::new(false), AtomicI32::new(0));
        Self { buffer, len, contents, taken, cursor, exported, marked }
    }

    /// The storage of a buffer that an application supplies.
    pub(in crate::gpu) fn of_application(buffer: wgpu::Buffer) -> Self {
        let len = buffer.size();
        let storage = Self::new(buffer, len, ContentState::default());
        storage.export();
        storage
    }

    /// Records that the application has access to the buffer.
    pub(in crate::gpu) fn export(&self) {
        self.exported.store(true, Ordering::Relaxed);
    }

    /// Whether the application has access to the buffer. It may have destroyed the buffer or still use it in its own
    /// work, so the pool does not reuse the buffer.
    pub(in crate::gpu) fn is_exported(&self) -> bool {
        self.exported.load(Ordering::Relaxed)
    }

    /// Changes the number of captures that have it as an input.
    pub(in crate::gpu) fn marked_by(&self, more: i32) {
        self.marked.fetch_add(more, Ordering::Relaxed);
    }

    /// Whether it is an input of a capture whose closure is running, perhaps in another thread.
    pub(in crate::gpu) fn is_marked(&self) -> bool {
        self.marked.load(Ordering::Relaxed) > 0
    }

    /// Records that this work has allocated the storage: if it is a capture, then the buffer is the capture's even if no launch
    /// uses it.
    pub(in crate::gpu) fn note_allocated_by(&self, work: &Arc<TakenWork>) {
        if work.owns(&self.buffer) {
            self.taken.note(work, StorageAccess::Writes);
        }
    }

    /// Fails if the host cannot write to the buffer.
    pub(in crate::gpu) fn check_copy_destination(&self, op: &'static str) -> Result<()> {
        if self.buffer.usage().contains(wgpu::BufferUsages::COPY_DST) {
            return Ok(());
        }
        let why = "the application's buffer lacks `BufferUsages::COPY_DST`, which writes of the host need";
        Err(Error::input(format!("{op}: the output"), why))
    }
}

/// The taken work that uses one storage.
#[derive(Default)]
pub(in crate::gpu) struct TakenUses {
    /// Whether `uses` may not be empty.
    has_uses: AtomicBool,
    uses: Lock<Vec<(Arc<TakenWork>, StorageAccess)>>,
}

/// The kind of use of a storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::gpu) enum StorageAccess {
    Reads,
    Writes,
}

/// A storage and the kind of its use.
pub(in crate::gpu) type Use<'a> = (&'a Storage, StorageAccess);

/// Records that taken work uses these storages.
pub(in crate::gpu) fn note_uses<'a>(work: &Arc<TakenWork>, uses: impl Iterator<Item = Use<'a>>) {
    uses.for_each(|(storage, access)| storage.taken.note(work, access));
}

impl TakenUses {
    /// Records that taken work uses the storage.
    pub(in crate::gpu) fn note(&self, work: &Arc<TakenWork>, access: StorageAccess) {
        let mut uses = self.uses.lock();
        match uses.iter_mut().find(|(known, _)| Arc::ptr_eq(known, work)) {
            Some((_, known)) => *known = access.max(*known),
            None => uses.push((work.clone(), access)),
        }
        self.has_uses.store(true, Ordering::Release);
    }

    /// This work does not use the storage any more. The caller holds no lock.
    pub(in crate::gpu) fn forget(&self, work: &Arc<TakenWork>) {
        let is_it = |(known, _): &mut (Arc<TakenWork>, StorageAccess)| Arc::ptr_eq(known, work);
        let forgotten: Vec<_> = self.uses.lock().extract_if(.., is_it).collect();
        drop(forgotten);
    }

    /// Whether this work uses the storage.
    pub(in crate::gpu) fn has(&self, work: &Arc<TakenWork>) -> bool {
        self.uses.lock().iter().any(|(known, _)| Arc::ptr_eq(known, work))
    }

    /// Whether taken work may use the storage.
    pub(in crate::gpu) fn may_exist(&self) -> bool {
        self.has_uses.load(Ordering::Acquire)
    }

    /// Taken work that must be submitted, or confirmed, before this access. `own` is the work that the access is part
    /// of, which may follow other work in the same encoder.
    pub(in crate::gpu) fn conflict(
        &self,
        access: StorageAccess,
        own: Option<&Arc<TakenWork>>,
    ) -> Option<Arc<TakenWork>> {
        if !self.may_exist() {
            return None;
        }
        conflict_in(&self.uses.lock(), access, own)
    }

    /// As [`conflict`](Self::conflict). Removes work that no access must wait for any more. The caller holds no lock, because
    /// the work may be dropped.
    pub(in crate::gpu) fn unfinished_conflict(
        &self,
        access: StorageAccess,
        own: Option<&Arc<TakenWork>>,
    ) -> Option<Arc<TakenWork>> {
        if !self.may_exist() {
            return None;
        }
        let mut uses = self.uses.lock();
        let finished: Vec<_> = uses.extract_if(.., is_finished).collect();
        self.has_uses.store(!uses.is_empty(), Ordering::Release);
        let found = conflict_in(&uses, access, own);
        drop(uses);
        drop(finished);
        found
    }

    /// The work that uses the storage and will run.
    pub(in crate::gpu) fn holders(&self) -> Vec<Arc<TakenWork>> {
        if !self.may_exist() {
            return Vec::new();
        }
        let uses = self.uses.lock();
        let works = uses.iter().map(|(work, _)| work);
        works.filter(|work| work.holds_buffers()).cloned().collect()
    }

    /// Removes work that no access must wait for any more. The caller holds no lock, because the work may be dropped.
    pub(in crate::gpu) fn forget_finished(&self) {
        if !self.may_exist() {
            return;
        }
        let mut uses = self.uses.lock();
        let finished: Vec<_> = uses.extract_if(.., is_finished).collect();
        self.has_uses.store(!uses.is_empty(), Ordering::Release);
        drop(uses);
        drop(finished);
    }
}

/// The first of these works that must be submitted, or confirmed, before the access.
fn conflict_in(
    uses: &[(Arc<TakenWork>, StorageAccess)],
    access: StorageAccess,
    own: Option<&Arc<TakenWork>>,
) -> Option<Arc<TakenWork>> {
    let conflicts = |&&(ref work, theirs): &&(Arc<TakenWork>, StorageAccess)| {
        let is_ordered = own.is_some_and(|own| own.follows(work));
        !is_ordered
            && match work.stage() {
                // A capture does not change the storages that it only uses; those that it has allocated have no
                // contents.
                TakenStage::Unsubmitted if work.is_capture() => theirs == StorageAccess::Writes,
                TakenStage::Unsubmitted => access.max(theirs) == StorageAccess::Writes,
                // It may have been refused, and then its outputs have no result.
                TakenStage::Submitted => theirs == StorageAccess::Writes,
                TakenStage::Captured | TakenStage::Done => false,
            }
    };
    uses.iter().find(conflicts).map(|(work, _)| work.clone())
}

/// Whether no access must wait for the work.
fn is_finished((work, access): &mut (Arc<TakenWork>, StorageAccess)) -> bool {
    match work.stage() {
        TakenStage::Unsubmitted | TakenStage::Captured => false,
        TakenStage::Submitted => *access == StorageAccess::Reads,
        TakenStage::Done => true,
    }
}
