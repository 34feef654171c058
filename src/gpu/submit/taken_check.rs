//! Checks of taken work before a storage is used: outputs of work that the application has not submitted are not read,
//! and its operands are not written.

use crate::gpu::buffers::storage::{StorageAccess, Use};
use crate::gpu::buffers::taken_work::{TakenStage, TakenWork};
use crate::gpu::driver::lock::Locked;
use crate::gpu::driver::poll::poll_once;
use crate::gpu::handle::gpu::Gpu;
use crate::gpu::record::recorder::RecorderState;
use crate::gpu::record::scope::OwnScope;
use crate::{Error, Result};

impl Gpu {
    /// Fails if the use would come before taken work that it depends on. Taken work that was submitted is checked: if
    /// wgpu refused it, its outputs are marked as failed.
    ///
    /// # Errors
    /// [`Error::Input`] if taken work that conflicts with the use has not been submitted.
    pub(in crate::gpu) fn check_taken(
        &self,
        op: &'static str,
        (storage, access): Use<'_>,
        own: OwnScope,
    ) -> Result<()> {
        // A use that follows work of its own encoder in order has no other conflicts.
        if storage.taken.unfinished_conflict(access, None).is_none() {
            return Ok(());
        }
        let own = match own {
            OwnScope::IsOrdered => self.inner.recorder.lock().own_work(),
            OwnScope::Counts => None,
        };
        loop {
            let Some(work) = storage.taken.unfinished_conflict(access, own.as_ref()) else { return Ok(()) };
            if work.stage() == TakenStage::Unsubmitted {
                return Err(unsubmitted(op, &work, access));
            }
            // NOTE: a map that waits for no submission is done after one poll. So a map that is still pending then says
            // that the submission was accepted. This does not wait for the device.
            work.confirm(|| {
                let _suspended = self.inner.recorder.suspend_scope();
                // If the device is lost, the call that follows returns the error.
                let _ = poll_once(&self.inner.device);
            });
        }
    }

    /// Locks the recorder at a time at which no taken work conflicts with these uses, and, in a `record_into`, no
    /// recording that is not yet submitted uses the storages: the commands of the scope may run before it.
    ///
    /// # Errors
    /// As [`check_taken`](Self::check_taken).
    pub(in crate::gpu) fn lock_ordered<'a>(
        &self,
        op: &'static str,
        uses: impl Iterator<Item = Use<'a>> + Clone,
    ) -> Result<Locked<'_, RecorderState>> {
        loop {
            let mut state = self.inner.recorder.lock();
            let own = state.own_work();
            let first_unsubmitted = state.first_unsubmitted();
            let is_recorded = |&(storage, _): &Use<'_>| storage.contents.last_use() >= first_unsubmitted;
            if own.is_some() && !state.is_capturing() && uses.clone().any(|used| is_recorded(&used)) {
                drop(state);
                // Another thread has recorded it.
                self.submit_all()?;
                continue;
            }
            let earlier =
                |(storage, access)| state.taken_from(storage).map(|work| unsubmitted(op, &work, access));
            if let Some(error) = uses.clone().find_map(earlier) {
                return Err(error);
            }
            let conflicts =
                |&(storage, access): &Use<'_>| storage.taken.conflict(access, own.as_ref()).is_some();
            let Some(used) = uses.clone().find(conflicts) else { return Ok(state) };
            drop(state);
            self.check_taken(op, used, OwnScope::IsOrdered)?;
        }
    }

    /// Fails if the application or the host is to use a buffer that taken work uses on behalf of an earlier owner.
    pub(in crate::gpu) fn check_earlier_owner(
        &self,
        op: &'static str,
        (storage, access): Use<'_>,
    ) -> Result<()> {
        let work = self.inner.recorder.lock().taken_from(storage);
        work.map_or(Ok(()), |work| Err(unsubmitted(op, &work, access)))
    }
}

fn unsubmitted(op: &'static str, work: &TakenWork, access: StorageAccess) -> Error {
    if work.is_capture() {
        let why = "a tensor that it uses was created in the closure of `capture`, which runs nothing: it has contents \
                   after `Replay::run`";
        return Error::input(op, why);
    }
    let what = match access {
        StorageAccess::Reads => "a tensor that it uses, or its memory, is written by",
        StorageAccess::Writes => "a tensor that it writes, or its memory, is used by",
    };
    let why = format!(
        "{what} commands of `{}` that have not been submitted; submit the application's command buffer first",
        work.call
    );
    Error::input(op, why)
}
