//! The storages that the runs of a replay use. Computed once, except for the parts that differ from run to run.

use super::run_input::RunInput;
use crate::gpu::buffers::bound_window::{BoundWindow, WindowUse};
use crate::gpu::buffers::cursor::Claim;
use crate::gpu::buffers::part::Part;
use crate::gpu::buffers::positions::Positions;
use crate::gpu::buffers::storage::Storage;
use crate::gpu::record::captured::{CapturedUse, UseKind};
use crate::gpu::record::replay_input::ReplayInput;
use crate::gpu::views::view::View;
use std::sync::Arc;

/// The storages that the launches of a replay use, and the parts of them.
pub(in crate::gpu) struct RunUses(Vec<RunUse>);

/// The use of a storage by all launches of a run together.
struct RunUse {
    what: What,
    kind: UseKind,
}

/// What a run uses.
enum What {
    /// The input of this number.
    Input(usize),
    /// This part of a storage, in every run.
    Fixed(Arc<Storage>, Part),
    /// The positions of a cache that the run reads or fills.
    Filled(Arc<Storage>, Arc<Positions>),
}

impl RunUses {
    /// The uses of launches that were captured with these inputs.
    pub(in crate::gpu) fn new(uses: &[CapturedUse], inputs: &[ReplayInput]) -> Self {
        let run_use = |used: &CapturedUse| {
            let input = inputs.iter().position(|input| Arc::ptr_eq(&input.storage, &used.storage));
            let what = match (input, &used.part) {
                (Some(at), _) => What::Input(at),
                (None, Part::Positions(positions)) => What::Filled(used.storage.clone(), positions.clone()),
                (None, part) => What::Fixed(used.storage.clone(), part.clone()),
            };
            RunUse { what, kind: used.kind }
        };
        Self(uses.iter().map(run_use).collect())
    }

    /// The storages that a run with these inputs and claims uses, before its sequence is known.
    pub(in crate::gpu) fn of_run(
        &self,
        (views, inputs): (&[View<'_>], &[RunInput]),
        claims: &[Claim],
    ) -> Vec<BoundWindow> {
        let bound = |RunUse { what, kind }: &RunUse| {
            let (storage, part) = match what {
                What::Input(at) => (views[*at].storage(), inputs[*at].part.clone()),
                What::Fixed(storage, part) => (storage, part.clone()),
                What::Filled(storage, positions) => (storage, kind.filled(positions, claims)),
            };
            BoundWindow::of(storage.clone(), 0..storage.len, kind.access(), part)
        };
        self.0.iter().map(bound).collect()
    }
}

impl UseKind {
    /// The access of a run, before its sequence is known.
    fn access(self) -> WindowUse {
        match self {
            Self::Reads => WindowUse::Read,
            Self::Updates => WindowUse::Write,
            Self::Overwrites => WindowUse::Overwrite { begun: 0 },
        }
    }

    /// The part of a cache that a run with these claims reads or fills.
    fn filled(self, positions: &Positions, claims: &[Claim]) -> Part {
        let claim = claims.iter().find(|claim| claim.is_of(&positions.cursor));
        let filled = claim.map_or_else(|| positions.cursor.filled(), Claim::filled);
        Part::at(positions, if self == Self::Reads { 0..filled.start } else { filled })
    }
}
