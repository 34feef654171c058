//! The data that a replay keeps of its capture: the launches, and the buffers that they use.

use crate::gpu::buffers::content_state::ContentState;
use crate::gpu::buffers::cursor::{Cursor, IS_COUNTED};
use crate::gpu::buffers::failures::Reason;
use crate::gpu::buffers::part::Part;
use crate::gpu::buffers::storage::Storage;
use crate::gpu::buffers::taken_work::TakenWork;
use crate::gpu::handle::gpu::Gpu;
use crate::gpu::record::captured::{Captured, CapturedUse, UseKind};
use crate::gpu::record::replay_input::ReplayInput;
use crate::{Error, Result};
use std::collections::HashMap;
use std::sync::Arc;

/// The function that errors name.
const OP: &str = "capture";

/// A complete capture. Its buffers go back to the pool when it is dropped.
pub(in crate::gpu) struct KeptCapture {
    pub(in crate::gpu) gpu: Gpu,
    pub(in crate::gpu) captured: Captured,
    /// The storages that the launches use.
    pub(in crate::gpu) uses: Vec<CapturedUse>,
    work: Arc<TakenWork>,
}

/// A word that stores a position.
pub(in crate::gpu) struct PositionWord {
    pub(in crate::gpu) storage: Arc<Storage>,
    pub(in crate::gpu) cursor: Arc<Cursor>,
    /// The number by which one run advances it.
    pub(in crate::gpu) new: usize,
}

impl KeptCapture {
    /// The memory of the capture that the launches write has no contents because of `why`.
    pub(in crate::gpu) fn new(gpu: &Gpu, work: Arc<TakenWork>, captured: Captured, why: &Reason) -> Self {
        let allocated = work.allocated();
        let uses = captured.uses(&allocated);
        let sequence = gpu.inner.recorder.lock().next_sequence();
        let written = uses.iter().filter(|used| used.kind != UseKind::Reads);
        for used in written.filter(|used| allocated.contains(&used.storage.buffer)) {
            used.storage.contents.fail(sequence, &Part::WHOLE, why);
        }
        work.captured();
        Self { gpu: gpu.clone(), captured, uses, work }
    }

    /// Bytes of the buffers that only the replay keeps.
    pub(in crate::gpu) fn bytes(&self) -> u64 {
        self.work.bytes()
    }

    /// Releases the tensors that the launches were captured with, because every run has its own. A storage without memory
    /// replaces each of them. Returns the inputs with these storages.
    ///
    /// NOTE: an input without elements is in no launch, even if its buffer is.
    pub(in crate::gpu) fn let_go_of(&mut self, inputs: &[ReplayInput]) -> Vec<ReplayInput> {
        let nothing = self.gpu.inner.progress.placeholder();
        let stand_in = |input: &ReplayInput| {
            Arc::new(Storage::new(nothing.clone(), input.storage.len, ContentState::default()))
        };
        let stand_ins: Vec<_> = inputs.iter().map(stand_in).collect();
        for (input, stand_in) in inputs.iter().zip(&stand_ins).filter(|(input, _)| !input.layout.is_empty()) {
            let bound = self.captured.launches.iter_mut().flat_map(|launch| &mut launch.bound);
            let storages = bound.map(|bound| &mut bound.storage);
            let storages = storages.chain(self.uses.iter_mut().map(|used| &mut used.storage));
            let captured = storages.filter(|storage| Arc::ptr_eq(storage, &input.storage));
            captured.for_each(|storage| storage.clone_from(stand_in));
            input.storage.taken.forget(&self.work);
        }
        self.captured.operands.clear();
        inputs.iter().zip(stand_ins).map(|(input, stand_in)| input.in_place_of(stand_in)).collect()
    }

    /// Fails unless the launches are complete, and other tensors can take the place of these inputs.
    pub(in crate::gpu) fn check(&self, inputs: &[ReplayInput]) -> Result<()> {
        if let Some(why) = &self.captured.failed {
            let why =
                format!("an operation has failed after some of its launches, and the closure went on: {why}");
            return Err(Error::input(format!("{OP}: the closure"), why));
        }
        if let Some((call, why)) = &self.captured.refused {
            return Err(Error::input(format!("{OP}: the closure"), format!("it calls `{call}`: {why}")));
        }
        if !self.captured.counts_along() {
            return Err(Error::input(format!("{OP}: an output in the closure"), IS_COUNTED));
        }
        for (at, input) in inputs.iter().enumerate().filter(|(_, input)| !input.layout.is_empty()) {
            let mut uses = self.uses.iter().filter(|used| Arc::ptr_eq(&used.storage, &input.storage));
            let first = uses.next();
            let why = match uses.find(|used| used.kind != UseKind::Reads).or(first) {
                None => "nothing that the closure launches reads it: use it in the closure, or leave it out",
                Some(used) if used.kind != UseKind::Reads => {
                    "the closure writes to it: write into another tensor, or leave it out of the inputs"
                }
                Some(_) if self.bound_beyond(input) => {
                    "the closure also uses another part of its buffer: copy the input into a tensor of its own, or leave \
                     it out"
                }
                Some(_) => continue,
            };
            return Err(Error::input(format!("{OP}: input {at}"), why));
        }
        Ok(())
    }

    fn bound_beyond(&self, input: &ReplayInput) -> bool {
        self.captured.operands.iter().any(|operand| input.is_left_by(operand))
    }

    /// The words of positions that the launches use, and the number by which one run advances each.
    pub(in crate::gpu) fn words(&self) -> Vec<PositionWord> {
        let words = self.uses.iter().filter_map(|used| {
            let cursor = used.storage.cursor.get()?.clone();
            let new = self.captured.advance(&cursor);
            Some(PositionWord { storage: used.storage.clone(), cursor, new })
        });
        words.collect()
    }

    /// Whether the launches write to this buffer.
    pub(in crate::gpu) fn writes(&self, storage: &Storage) -> bool {
        self.uses.iter().any(|used| used.kind != UseKind::Reads && used.storage.buffer == storage.buffer)
    }
}

impl Drop for KeptCapture {
    fn drop(&mut self) {
        // Each buffer is for use after the last run of the storages that lie in it.
        let storages: Vec<_> = self.uses.iter().map(|used| used.storage.clone()).collect();
        let mut in_buffer: HashMap<&wgpu::Buffer, Vec<&Storage>> = HashMap::new();
        storages.iter().for_each(|storage| in_buffer.entry(&storage.buffer).or_default().push(storage));
        self.work.retire(|freed| {
            for storage in in_buffer.get(&freed.buffer).into_iter().flatten() {
                freed.last_use = freed.last_use.map(|last| last.max(storage.contents.last_use()));
                freed.users.extend(storage.taken.holders());
            }
        });
    }
}
