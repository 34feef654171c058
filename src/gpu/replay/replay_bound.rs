//! The bind groups of a replay for the inputs of its last runs.

use crate::gpu::buffers::tensor_pool::HoldsBuffers;
use crate::gpu::driver::lock::Lock;
use crate::gpu::record::replay_input::ReplayInput;
use crate::gpu::record::replay_launches::Bindings;
use std::sync::Arc;

/// Sets of inputs whose bind groups are kept.
const MAX_BINDINGS: usize = 4;

/// The bind groups for the inputs of the last runs, the latest first. The pool drops those whose buffers leave it.
#[derive(Default)]
pub(in crate::gpu) struct BoundInputs(Lock<Vec<Arc<Bindings>>>);

impl BoundInputs {
    /// The bind groups for these inputs, which are the latest from now on.
    pub(in crate::gpu) fn of(&self, inputs: &[ReplayInput]) -> Option<Arc<Bindings>> {
        let mut all = self.0.lock();
        let at = all.iter().position(|bindings| bindings.are_of(inputs))?;
        all[..=at].rotate_right(1);
        all.first().cloned()
    }

    /// Adds the latest bind groups. The caller holds no lock.
    pub(in crate::gpu) fn add(&self, latest: &Arc<Bindings>) {
        let mut all = self.0.lock();
        let oldest = if all.len() == MAX_BINDINGS { all.pop() } else { None };
        all.insert(0, latest.clone());
        drop(all);
        drop(oldest);
    }
}

impl HoldsBuffers for BoundInputs {
    fn let_go(&self, is_gone: &dyn Fn(&wgpu::Buffer) -> bool) {
        let holds = |bindings: &mut Arc<Bindings>| bindings.buffers().any(is_gone);
        let dropped: Vec<_> = self.0.lock().extract_if(.., holds).collect();
        drop(dropped);
    }
}
