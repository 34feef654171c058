//! Records copies between the textures of an application and storages.

use crate::gpu::buffers::bound_window::{BoundWindow, WindowUse};
use crate::gpu::buffers::content_state::reports;
use crate::gpu::buffers::storage::note_uses;
use crate::gpu::handle::gpu::{Allocation, Gpu};
use crate::gpu::record::scope::Sink;
use crate::gpu::record::texel_copy::{TexelCopy, TexelDirection};
use crate::gpu::record::work::Copy;
use crate::{Error, Result};

const CAPTURED: &str = "textures are not captured, because a replay could not be given another one: read the texture into an \
                        input of the replay before each run, and write its output to a texture after the run";

impl Gpu {
    /// Fails in the closure of a `capture`, and on a lost device.
    pub(crate) fn check_textures(&self, op: &'static str) -> Result<()> {
        self.inner.status.check()?;
        if self.inner.recorder.lock().is_capturing() {
            return Err(Error::input(op, CAPTURED));
        }
        Ok(())
    }

    /// Checks that the texture of a copy, which is to be recorded later, is on this device and not destroyed. In a browser,
    /// wgpu answers when the copy is submitted.
    pub(crate) fn check_texels(
        &self,
        op: &'static str,
        copy: &TexelCopy,
        allocation: &Allocation,
    ) -> Result<()> {
        #[cfg(not(target_arch = "wasm32"))]
        super::texture_owner::check_copy(op, self, copy, allocation.buffer())?;
        let _ = (op, copy, allocation);
        Ok(())
    }

    /// Records a copy between texels and the start of an allocation that is large enough, after everything that was recorded
    /// before. The caller has checked that the texels are there, that the texture has the usage, and
    /// [`check_texels`](Self::check_texels).
    pub(crate) fn copy_texels(
        &self,
        op: &'static str,
        copy: TexelCopy,
        allocation: &Allocation,
    ) -> Result<()> {
        let (storage, len, reports) = (allocation.storage(), allocation.len(), reports());
        if copy.direction == TexelDirection::ToTexture {
            allocation.check()?;
        }
        let mut bound = BoundWindow::new(storage.clone(), 0..len, WindowUse::Read);
        if copy.direction == TexelDirection::FromTexture {
            bound.access = WindowUse::Write;
        }
        let used = (&**storage, bound.taken_access());
        let mut state = self.lock_ordered(op, std::iter::once(used))?;
        let sequence = state.next_sequence();
        if bound.access == WindowUse::Write {
            bound.access = WindowUse::Overwrite { begun: sequence };
        }
        let copied = Copy::Texels(copy);
        if let Some(scope) = state.scope() {
            let Sink::Recording(recording) = &mut scope.sink else { return Err(Error::input(op, CAPTURED)) };
            note_uses(&scope.work, std::iter::once(used));
            recording.push_copy(copied, [bound], (sequence, reports));
            return Ok(());
        }
        // Each byte is read and written.
        state.open.seconds += 2.0 * len as f64 / self.known_caps().machine.memory_bandwidth;
        state.open.push_copy(copied, [bound], (sequence, reports));
        self.submit_if_full(state)
    }
}
