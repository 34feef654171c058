//! Copies that are recorded between launches, in order.

use super::bound_window::BoundWindow;
use super::staging::slot::Slot;
use std::sync::Arc;

/// A copy. The recording has the windows that it reads and writes.
pub(super) enum Copy {
    /// From a staging buffer that the host has filled to the one window.
    FromHost(Arc<Slot>),
}

impl Copy {
    /// Its name, for errors.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::FromHost(_) => "a staged write",
        }
    }

    /// Encodes the copy between two passes.
    pub(super) fn encode(&self, bound: &[BoundWindow], encoder: &mut wgpu::CommandEncoder) {
        match (self, bound) {
            (Self::FromHost(slot), [to]) => slot.encode(to, encoder),
            (Self::FromHost(_), _) => debug_assert!(false, "a staged write has one window"),
        }
    }
}
