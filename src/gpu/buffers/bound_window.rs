//! A window of a storage that launches bind, and how they use it.

use super::part::Part;
use super::storage::{Storage, StorageAccess};
use std::ops::Range;
use std::sync::Arc;

/// A window of a storage that a launch binds.
#[derive(Clone)]
pub(in crate::gpu) struct BoundWindow {
    pub(in crate::gpu) storage: Arc<Storage>,
    pub(in crate::gpu) window: Range<u64>,
    pub(in crate::gpu) access: WindowUse,
    /// The part of the storage that the launch reads or writes.
    pub(in crate::gpu) part: Part,
    /// Sequence of the last write of the whole storage before the launch.
    pub(in crate::gpu) since: u64,
}

/// How a launch uses a storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gpu) enum WindowUse {
    /// It reads the storage.
    Read,
    /// It writes to the storage, and may read it.
    Write,
    /// It belongs to an operation that began at this sequence, writes all of the part, and reads nothing of it.
    Overwrite { begun: u64 },
}

impl BoundWindow {
    /// A window of a storage of which the launch may use any part.
    pub(in crate::gpu) fn new(storage: Arc<Storage>, window: Range<u64>, access: WindowUse) -> Self {
        Self { storage, window, access, part: Part::WHOLE, since: 0 }
    }

    /// A window, and the part of the storage that the launch uses.
    pub(in crate::gpu) fn of(
        storage: Arc<Storage>,
        window: Range<u64>,
        access: WindowUse,
        part: Part,
    ) -> Self {
        Self { storage, window, access, part, since: 0 }
    }

    /// The same window for an operation that begins at this sequence.
    pub(in crate::gpu) fn begun_at(self, sequence: u64) -> Self {
        match self.access {
            WindowUse::Overwrite { .. } => Self { access: WindowUse::Overwrite { begun: sequence }, ..self },
            WindowUse::Read | WindowUse::Write => self,
        }
    }

    /// Whether the launch may read contents from before the operation.
    pub(in crate::gpu) fn may_read_before(&self) -> bool {
        !matches!(self.access, WindowUse::Overwrite { .. })
    }

    /// How the launch uses the storage, for taken work.
    pub(in crate::gpu) fn taken_access(&self) -> StorageAccess {
        if self.access == WindowUse::Read { StorageAccess::Reads } else { StorageAccess::Writes }
    }

    pub(in crate::gpu) fn bytes(&self) -> u64 {
        self.window.end - self.window.start
    }

    pub(in crate::gpu) fn resource(&self) -> wgpu::BindingResource<'_> {
        wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: &self.storage.buffer,
            offset: self.window.start,
            size: std::num::NonZeroU64::new(self.bytes()),
        })
    }
}
