//! The contents of a recording: launches, runs of replays, copies between them, and the commands that follow.

use super::replay_launches::{Bindings, Launches};
use super::staging_slot::StagingSlot;
use super::texel_copy::TexelCopy;
use crate::gpu::buffers::bound_window::BoundWindow;
use crate::gpu::buffers::storage::Storage;
use crate::gpu::kernels::pipeline::Pipeline;
use std::ops::Range;
use std::sync::Arc;

/// One launch, one run of a replay, or one copy.
pub(in crate::gpu) struct Item {
    pub(in crate::gpu) work: Command,
    /// Its windows, among those of the recording.
    pub(in crate::gpu) bound: Range<usize>,
    pub(in crate::gpu) sequence: u64,
    /// The failures that had been reported when its operands were checked.
    pub(in crate::gpu) reports: u64,
}

/// What an item does.
pub(in crate::gpu) enum Command {
    Launch {
        pipeline: Arc<Pipeline>,
        dims: Range<usize>,
        grid: [u32; 3],
    },
    Replay {
        launches: Arc<Launches>,
        bindings: Arc<Bindings>,
    },
    /// It runs between two passes. Its windows are those that it reads and writes.
    Copy(Copy),
}

/// The bind groups of an item.
pub(in crate::gpu) enum Groups {
    /// It does not run, because one of its inputs was never computed.
    Skipped,
    OfLaunch(wgpu::BindGroup),
    /// A replay has its own bind groups, and a copy needs none.
    NotNeeded,
}

/// The commands after the launches.
pub(in crate::gpu) enum Tail {
    /// A copy of a window to a staging buffer, for the host to read.
    Read { source: Arc<Storage>, window: Range<u64>, staging: wgpu::Buffer },
    /// A copy of the pass's timestamps to a storage.
    #[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "timing waits, which a browser forbids"))]
    Timestamps { queries: wgpu::QuerySet, ticks: Arc<Storage> },
}

impl Item {
    pub(in crate::gpu) fn is_copy(&self) -> bool {
        matches!(self.work, Command::Copy(_))
    }
}

/// A copy. The recording has the windows that it reads and writes.
pub(in crate::gpu) enum Copy {
    /// From a staging buffer that the host has filled to the one window.
    FromHost(Arc<StagingSlot>),
    /// Between a texture and the one window.
    Texels(TexelCopy),
}

impl Copy {
    /// Its name, for errors.
    pub(in crate::gpu) fn name(&self) -> &'static str {
        match self {
            Self::FromHost(_) => "a staged write",
            Self::Texels(copy) => copy.name(),
        }
    }

    /// Encodes the copy between two passes.
    pub(in crate::gpu) fn encode(&self, bound: &[BoundWindow], encoder: &mut wgpu::CommandEncoder) {
        match (self, bound) {
            (Self::FromHost(slot), [to]) => slot.encode(to, encoder),
            (Self::Texels(copy), [window]) => copy.encode(&window.storage.buffer, encoder),
            _ => debug_assert!(false, "each of these copies has one window"),
        }
    }
}
