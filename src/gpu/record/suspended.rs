//! The calling thread's scope, suspended while wgpu may run callbacks: the work that they record is not part of it.

use super::recorder::Recorder;
use super::scope::Scoped;
use crate::gpu::buffers::taken_work::TakenWork;
use std::sync::Arc;

/// A suspended scope. Its drop makes the scope active again.
pub(in crate::gpu) struct Suspended<'a> {
    recorder: &'a Recorder,
    work: Option<Arc<TakenWork>>,
}

impl Recorder {
    /// Suspends the scope of the calling thread, if there is one, before a call that may run callbacks.
    pub(in crate::gpu) fn suspend_scope(&self) -> Suspended<'_> {
        let mut state = self.lock();
        let work = state.scope().map(|scope| {
            scope.scoped = Scoped::Suspended;
            scope.work.clone()
        });
        drop(state);
        Suspended { recorder: self, work }
    }
}

impl Drop for Suspended<'_> {
    fn drop(&mut self) {
        let Some(work) = &self.work else { return };
        let mut state = self.recorder.lock();
        let own = state.scopes.iter_mut().find(|scope| Arc::ptr_eq(&scope.work, work));
        own.into_iter().for_each(|scope| scope.scoped = Scoped::Active);
    }
}
