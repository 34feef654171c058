//! The taken work that uses a storage. Nothing may be read that such work will write, and nothing written that it will
//! read or write, before the application has submitted it.

use super::lock::Lock;
use super::taken_work::{Stage, TakenWork};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The taken work that uses one storage.
#[derive(Default)]
pub(super) struct TakenUses {
    /// Whether `uses` may not be empty.
    has_uses: AtomicBool,
    uses: Lock<Vec<(Arc<TakenWork>, Access)>>,
}

/// How a storage is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Access {
    Reads,
    Writes,
}

impl TakenUses {
    /// Records that taken work uses the storage.
    pub(super) fn note(&self, work: &Arc<TakenWork>, access: Access) {
        let mut uses = self.uses.lock();
        match uses.iter_mut().find(|(known, _)| Arc::ptr_eq(known, work)) {
            Some((_, known)) => *known = access.max(*known),
            None => uses.push((work.clone(), access)),
        }
        self.has_uses.store(true, Ordering::Release);
    }

    /// Whether this work uses the storage.
    pub(super) fn has(&self, work: &Arc<TakenWork>) -> bool {
        self.uses.lock().iter().any(|(known, _)| Arc::ptr_eq(known, work))
    }

    /// Whether taken work may use the storage.
    pub(super) fn may_exist(&self) -> bool {
        self.has_uses.load(Ordering::Acquire)
    }

    /// Taken work that must be submitted, or confirmed, before this access. `own` is the work that the access is part
    /// of.
    pub(super) fn conflict(&self, access: Access, own: Option<&Arc<TakenWork>>) -> Option<Arc<TakenWork>> {
        if !self.may_exist() {
            return None;
        }
        let conflicts = |&(work, theirs): &(&Arc<TakenWork>, Access)| {
            let is_own = own.is_some_and(|own| Arc::ptr_eq(own, work));
            !is_own
                && match work.stage() {
                    Stage::Unsubmitted => access.max(theirs) == Access::Writes,
                    // It may have been refused, so that what it should have written is not there.
                    Stage::Submitted => theirs == Access::Writes,
                    Stage::Done => false,
                }
        };
        let uses = self.uses.lock();
        let found = uses.iter().map(|(work, theirs)| (work, *theirs)).find(conflicts);
        found.map(|(work, _)| work.clone())
    }

    /// The work that uses the storage and is not yet submitted.
    pub(super) fn unsubmitted(&self) -> Vec<Arc<TakenWork>> {
        if !self.may_exist() {
            return Vec::new();
        }
        let uses = self.uses.lock();
        let works = uses.iter().map(|(work, _)| work);
        works.filter(|work| work.stage() == Stage::Unsubmitted).cloned().collect()
    }

    /// Forgets work that no access has to wait for any more. The caller holds no lock, because the work may be dropped.
    pub(super) fn forget_finished(&self) {
        if !self.may_exist() {
            return;
        }
        let is_finished = |(work, access): &mut (Arc<TakenWork>, Access)| match work.stage() {
            Stage::Unsubmitted => false,
            Stage::Submitted => *access == Access::Reads,
            Stage::Done => true,
        };
        let mut uses = self.uses.lock();
        let finished: Vec<_> = uses.extract_if(.., is_finished).collect();
        self.has_uses.store(!uses.is_empty(), Ordering::Release);
        drop(uses);
        drop(finished);
    }
}
