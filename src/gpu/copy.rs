//! Copies that are recorded between launches, in order.

use super::bound_window::BoundWindow;
use super::staging::slot::Slot;
use super::texel_copy::TexelCopy;
use std::sync::Arc;

/// A copy. The recording has the windows that it reads and writes.
pub(super) enum Copy {
    /// From a staging buffer that the host has filled to the one window.
    FromHost(Arc<Slot>),
    /// Between a texture and the one window.
    Texels(TexelCopy),
}

impl Copy {
    /// Its name, for errors.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::FromHost(_) => "a staged write",
            Self::Texels(copy) => copy.name(),
        }
    }

    /// Encodes the copy between two passes.
    pub(super) fn encode(&self, bound: &[BoundWindow], encoder: &mut wgpu::CommandEncoder) {
        match (self, bound) {
            (Self::FromHost(slot), [to]) => slot.encode(to, encoder),
            (Self::Texels(copy), [window]) => copy.encode(&window.storage.buffer, encoder),
            _ => debug_assert!(false, "each of these copies has one window"),
        }
    }
}
