//! Records copies between the textures of an application and storages.

use super::bound_window::{BoundWindow, WindowUse};
use super::handle::Gpu;
use super::memory::Allocation;
use super::scope::Sink;
use super::storage::Access;
use super::taken_check::note_uses;
use super::texel_copy::{TexelCopy, TexelDirection, Texels};
use crate::{Error, Result};

impl Gpu {
    /// Fails in the closure of a `capture`, and on a lost device.
    pub(crate) fn check_textures(&self, op: &'static str) -> Result<()> {
        self.inner.status.check()?;
        if self.inner.recorder.lock().is_capturing() {
            return Err(Error::input(op, CAPTURED));
        }
        Ok(())
    }

    /// Checks that the texture of a copy, which is to be recorded later, is on this device and not destroyed.
    pub(crate) fn check_texels(
        &self,
        op: &'static str,
        texels: &Texels,
        allocation: &Allocation,
        direction: TexelDirection,
    ) -> Result<()> {
        let (texels, storage) = (texels.clone(), allocation.storage().clone());
        self.check_texel_copy(op, &TexelCopy { texels, storage, direction })
    }

    fn check_texel_copy(&self, op: &'static str, copy: &TexelCopy) -> Result<()> {
        #[cfg(not(target_arch = "wasm32"))]
        super::texture_owner::check_copy(op, self, copy)?;
        // In a browser, wgpu answers later.
        let _ = (op, copy);
        Ok(())
    }

    /// Records a copy between these texels and the start of an allocation that is large enough, after everything that was
    /// recorded before. The caller has checked that the texels are there, that the texture has the usage, and
    /// [`check_texels`](Self::check_texels).
    pub(crate) fn copy_texels(
        &self,
        op: &'static str,
        texels: Texels,
        allocation: &Allocation,
        direction: TexelDirection,
    ) -> Result<()> {
        let storage = allocation.storage().clone();
        let copy = TexelCopy { texels, storage, direction };
        let (storage, len) = (copy.storage.clone(), allocation.len());
        let access = match direction {
            TexelDirection::FromTexture => Access::Writes,
            TexelDirection::ToTexture => Access::Reads,
        };
        let seconds = 2.0 * len as f64 / self.caps().machine.memory_bandwidth;
        let used = (&*storage, access);
        let mut state = self.lock_ordered(op, std::iter::once(used))?;
        let sequence = state.next_sequence();
        let window = match direction {
            TexelDirection::FromTexture => WindowUse::Overwrite { begun: sequence },
            TexelDirection::ToTexture => WindowUse::Read,
        };
        let bound = BoundWindow::new(storage.clone(), 0..len, window);
        if let Some(scope) = state.scope() {
            let Sink::Recording(recording) = &mut scope.sink else { return Err(Error::input(op, CAPTURED)) };
            note_uses(&scope.work, std::iter::once(used));
            recording.push_texels(copy, bound, sequence);
            return Ok(());
        }
        state.open.seconds += seconds;
        state.open.push_texels(copy, bound, sequence);
        self.submit_if_full(state)
    }
}

const CAPTURED: &str = "textures are not captured, because a replay could not be given another one: read the texture into an \
                        input of the replay before each run, and write its output to a texture after the run";
