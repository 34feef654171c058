//! Copies that are recorded between launches, in order.

use super::bound_window::BoundWindow;
use super::texel_copy::TexelCopy;

/// A copy. The recording has the windows that it reads and writes.
pub(super) enum Copy {
    /// Between a texture and the one window.
    Texels(TexelCopy),
}

impl Copy {
    /// Its name, for errors.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Texels(copy) => copy.name(),
        }
    }

    /// Encodes the copy between two passes.
    pub(super) fn encode(&self, bound: &[BoundWindow], encoder: &mut wgpu::CommandEncoder) {
        match (self, bound) {
            (Self::Texels(copy), [window]) => copy.encode(&window.storage.buffer, encoder),
            (Self::Texels(_), _) => debug_assert!(false, "a copy of texels has one window"),
        }
    }
}
