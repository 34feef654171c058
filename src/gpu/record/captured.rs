//! The launches of the closure of a `capture`.

use super::counts::Counts;
use super::input_mark::MarkedInput;
use super::new_launch::NewLaunch;
use super::replay_input::ReplayInput;
use crate::gpu::buffers::bound_window::{BoundWindow, WindowUse};
use crate::gpu::buffers::cursor::Cursor;
use crate::gpu::buffers::part::Part;
use crate::gpu::buffers::storage::Storage;
use crate::gpu::kernels::pipeline::Pipeline;
use crate::plan::Plan;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Launches that were captured, in order. Nothing has run.
#[derive(Default)]
pub(in crate::gpu) struct Captured {
    pub(in crate::gpu) launches: Vec<CapturedLaunch>,
    pub(in crate::gpu) plans: Vec<Plan>,
    /// Why an operation failed after it had launched a part of its work, if one did.
    pub(in crate::gpu) failed: Option<String>,
    /// A call that a replay would not repeat and that returns no error, and why, if there was one.
    pub(in crate::gpu) refused: Option<(&'static str, String)>,
    /// The increments of the launches that advance positions, in order.
    pub(in crate::gpu) advances: Vec<(Arc<Cursor>, usize)>,
    /// The parts of the caller's and each other's tensors that the operations read and write.
    pub(in crate::gpu) operands: Vec<ReplayInput>,
    /// The inputs, while the closure is running.
    pub(in crate::gpu) inputs: Vec<MarkedInput>,
    /// Predicted seconds of all launches.
    pub(in crate::gpu) seconds: f64,
    /// The increments of the counters in one run.
    pub(in crate::gpu) counts: Counts,
}

/// A captured launch. Its dims contain the values of its scalars.
pub(in crate::gpu) struct CapturedLaunch {
    pub(in crate::gpu) pipeline: Arc<Pipeline>,
    pub(in crate::gpu) bound: Vec<BoundWindow>,
    pub(in crate::gpu) dims: Vec<u8>,
    pub(in crate::gpu) grid: [u32; 3],
}

/// A storage that captured launches use.
pub(in crate::gpu) struct CapturedUse {
    pub(in crate::gpu) storage: Arc<Storage>,
    pub(in crate::gpu) kind: UseKind,
    /// The largest part of it that they may use.
    pub(in crate::gpu) part: Part,
}

/// The use of a storage by all captured launches together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gpu) enum UseKind {
    /// They read it.
    Reads,
    /// They write to it, and may read its previous contents.
    Updates,
    /// They write all of the part before they read it.
    Overwrites,
}

impl Captured {
    /// The number by which one run advances a position.
    pub(in crate::gpu) fn advance(&self, cursor: &Arc<Cursor>) -> usize {
        self.of_cursor(cursor).map(|(_, advance)| advance).sum()
    }

    fn of_cursor(&self, cursor: &Arc<Cursor>) -> impl Iterator<Item = &(Arc<Cursor>, usize)> {
        self.advances.iter().filter(|(known, _)| Arc::ptr_eq(known, cursor))
    }

    /// Whether each launch that writes a position advances it as the host counts.
    pub(in crate::gpu) fn counts_along(&self) -> bool {
        let bound = self.launches.iter().flat_map(|launch| &launch.bound);
        let written = bound.filter(|bound| bound.access != WindowUse::Read);
        let writes = written.filter(|bound| bound.storage.cursor.get().is_some()).count();
        writes == self.advances.len()
    }

    pub(in crate::gpu) fn push(&mut self, launch: NewLaunch<'_>, sequence: u64) {
        let mut dims = Vec::new();
        launch.append_dims(&mut dims);
        self.counts.add(&launch.bound);
        // An operation that fails asks whether it has written something before.
        let written = launch.bound.iter().filter(|bound| bound.access != WindowUse::Read);
        written.for_each(|bound| bound.storage.contents.note_write(sequence));
        let NewLaunch { plan, step, pipeline, bound, grid, seconds, .. } = launch;
        if step == 0 {
            self.plans.push(plan.clone());
        }
        self.seconds += seconds;
        self.launches.push(CapturedLaunch { pipeline, bound, dims, grid });
    }

    /// The storages that the launches use, each once, in the order of their first use; and apart from that each once for the
    /// positions that are read, and for those that are filled. Those in the buffers that the capture has allocated contain
    /// nothing before a run.
    pub(in crate::gpu) fn uses(&self, allocated: &HashSet<wgpu::Buffer>) -> Vec<CapturedUse> {
        let mut uses: Vec<CapturedUse> = Vec::new();
        let mut places = HashMap::new();
        for bound in self.launches.iter().flat_map(|launch| &launch.bound) {
            let is_own = allocated.contains(&bound.storage.buffer);
            if let Part::Positions(_) = bound.part {
                // Positions that are read and were not filled before the run are filled by the run.
                let kind = if bound.access == WindowUse::Read { UseKind::Reads } else { UseKind::Overwrites };
                if !uses.iter().any(|used| used.is(bound, kind)) {
                    uses.push(CapturedUse { storage: bound.storage.clone(), kind, part: bound.part.clone() });
                }
                continue;
            }
            let kind = match bound.access {
                WindowUse::Read => UseKind::Reads,
                WindowUse::Overwrite { .. } => UseKind::Overwrites,
                WindowUse::Write if is_own => UseKind::Overwrites,
                WindowUse::Write => UseKind::Updates,
            };
            let part = if is_own { Part::WHOLE } else { bound.part.clone() };
            match places.entry(Arc::as_ptr(&bound.storage)) {
                Entry::Vacant(place) => {
                    place.insert(uses.len());
                    uses.push(CapturedUse { storage: bound.storage.clone(), kind, part });
                }
                Entry::Occupied(place) => {
                    let known = &mut uses[*place.get()];
                    let is_within = known.part == part || known.part.is_whole(bound.storage.len);
                    known.kind = match (known.kind, kind) {
                        (UseKind::Reads, UseKind::Reads) => UseKind::Reads,
                        // Storages that the capture has allocated have unspecified contents before they are written.
                        (UseKind::Reads, kind) if is_own => kind,
                        (UseKind::Overwrites, _) if is_within => UseKind::Overwrites,
                        _ => UseKind::Updates,
                    };
                    known.part = known.part.with(&part);
                }
            }
        }
        uses
    }
}

impl CapturedUse {
    /// Whether it is this use of the window.
    fn is(&self, bound: &BoundWindow, kind: UseKind) -> bool {
        Arc::ptr_eq(&self.storage, &bound.storage) && self.kind == kind && self.part == bound.part
    }
}
