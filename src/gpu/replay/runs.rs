//! [`Replay`]: captured launches, and their runs.

use super::replay_bound::BoundInputs;
use super::replay_kept::{KeptCapture, PositionWord};
use super::replay_uses::RunUses;
use super::run_input::RunInput;
use crate::error::call;
use crate::gpu::buffers::content_state::reports;
use crate::gpu::buffers::cursor::Claim;
use crate::gpu::buffers::element_writer::ElementWriter;
use crate::gpu::buffers::pooled_buffer::PooledBuffer;
use crate::gpu::buffers::storage::note_uses;
use crate::gpu::buffers::tensor_pool::HoldsBuffers;
use crate::gpu::handle::same_gpu::check_same_gpu;
use crate::gpu::record::replay_input::ReplayInput;
use crate::gpu::record::replay_launches::{Bindings, Launches};
use crate::gpu::record::scope::{OwnScope, Sink};
use crate::gpu::transfer::write::SeenBy;
use crate::gpu::views::view::View;
use crate::layout::{Element, Layout};
use crate::{Error, Result};
use std::sync::{Arc, Weak};

/// The function that errors of a run name.
const OP: &str = "Replay::run";

/// Why there is no run in the closure of a `capture`.
const IN_A_CAPTURE: &str =
    "a capture cannot contain a run of a replay: call what the replay was captured from";

/// Launches that [`Gpu::capture`](crate::Gpu::capture) has recorded. They can be run any number of times.
///
/// In a run the host only encodes the launches: nothing is planned, allocated or bound again. Like every launch, a run
/// goes into the `Gpu`'s recording, or, in the closure of [`Gpu::record_into`](crate::Gpu::record_into), into the
/// application's encoder. Its results are bit-identical to those of the same operations without a replay.
///
/// The outputs, of type `R`, lie in memory that belongs to the replay. They keep their contents until the next run, which
/// overwrites them, also in clones of the tensors. To keep values, read them, or copy them with
/// [`ops::copy_into`](crate::ops::copy_into). If tensors of the outputs outlive the replay, they stay valid.
///
/// `Display` lists the operations with the predicted time of a run; `{:#}` adds each operation's plan.
pub struct Replay<R> {
    // NOTE: declared first, so that `kept` gets the buffers of outputs that have no other owner.
    outputs: R,
    launches: Arc<Launches>,
    /// The inputs that the launches were captured with, in storages that stand for those of the runs.
    captured_inputs: Vec<ReplayInput>,
    /// The inputs of the last run that succeeded; before it those of the capture.
    inputs: Vec<RunInput>,
    /// Their bind groups, unless they were dropped.
    bindings: Weak<Bindings>,
    bound: Arc<BoundInputs>,
    pub(in crate::gpu) kept: KeptCapture,
    /// What a run uses.
    uses: RunUses,
    /// The positions that a run reads or advances.
    words: Vec<PositionWord>,
}

impl<R> Replay<R> {
    pub(in crate::gpu) fn new(mut kept: KeptCapture, inputs: &[ReplayInput], outputs: R) -> Result<Self> {
        kept.check(inputs)?;
        let captured_inputs = kept.let_go_of(inputs);
        let gpu = &kept.gpu;
        let (device, queue) = (&gpu.inner.device, &gpu.inner.queue);
        let captured = &kept.captured.launches;
        let (launches, bindings) = gpu.caught(|| {
            let launches = Launches::new(captured, &captured_inputs, device, queue);
            (launches, Bindings::new(captured, [&captured_inputs, inputs], device))
        })?;
        let (launches, bindings) = (Arc::new(launches), Arc::new(bindings));
        let bound = Arc::<BoundInputs>::default();
        bound.add(&bindings);
        let holder: Arc<dyn HoldsBuffers> = bound.clone();
        gpu.inner.pool.add_replay(Arc::downgrade(&holder));
        let (inputs, words) = (inputs.iter().map(RunInput::new).collect(), kept.words());
        let (uses, bindings) = (RunUses::new(&kept.uses, &captured_inputs), Arc::downgrade(&bindings));
        Ok(Self { outputs, launches, captured_inputs, inputs, bindings, bound, kept, uses, words })
    }

    /// Records one run that reads these inputs: for each input of the capture, the same tensor, or another one of the
    /// same shape, element type and strides. Returns the outputs.
    ///
    /// The first run with other tensors creates bind groups for them. Those of the last four sets of inputs are kept, until
    /// the buffers leave the pool of free buffers, or [`Gpu::trim`](crate::Gpu::trim) is called. So the replay keeps no memory
    /// of tensors that were its inputs and are dropped. Buffers of an application stay bound until four other sets follow.
    ///
    /// # Errors
    /// [`Error::Input`] if the number of inputs, an element type, or the strides or the place of an input in its buffer
    /// modulo 256 bytes differ from the captured ones; if an input is an output of the replay, or lies in the buffer of
    /// one; if a [`KeyValueCache`](crate::attention::KeyValueCache) that the run fills has no room for its positions; if taken work that conflicts with the run is not submitted; and in the closure of a `capture`.
    /// [`Error::Shape`] if an input has another shape; [`Error::Gpu`] if it belongs to another `Gpu`; [`Error::Device`] if
    /// the device is lost, or a tensor that the run reads was never computed.
    pub fn run(&mut self, inputs: &[View<'_>]) -> Result<&R> {
        call(OP, || {
            self.kept.gpu.inner.status.check()?;
            let (bindings, new) = self.bind(inputs)?;
            let run = (inputs, new.as_deref().unwrap_or(&self.inputs));
            let claims = self.claims(inputs)?;
            let latest = new.is_some().then(|| Arc::downgrade(&bindings));
            self.record(run, bindings, &claims)?;
            claims.into_iter().for_each(Claim::commit);
            self.kept.gpu.inner.captures.add(&self.kept.captured.plans);
            if let (Some(inputs), Some(bindings)) = (new, latest) {
                (self.inputs, self.bindings) = (inputs, bindings);
            }
            Ok(())
        })?;
        Ok(&self.outputs)
    }

    /// The outputs. Before the first run, reading their tensors is an error.
    pub fn outputs(&self) -> &R {
        &self.outputs
    }

    /// Replaces the elements of an input, row-major, after everything that was recorded before: of the tensor that the
    /// last run that succeeded had as input `at`, or, before the first run, that of the capture. Clones and views of it
    /// have the new elements, too.
    ///
    /// # Errors
    /// [`Error::Input`] if there is no such input, it was dropped, its elements have another type, it has gaps or
    /// transposed axes, it begins or ends within a word of 4 bytes, or its buffer is one of the application's without
    /// `BufferUsages::COPY_DST`; [`Error::Shape`] if `data` has another length; [`Error::Device`] if the device is lost.
    pub fn write<T: Element>(&mut self, at: usize, data: &[T]) -> Result<()> {
        let op = "Replay::write";
        let (held, layout) = self.writable::<T>(op, at)?;
        call(op, || self.kept.gpu.write_elements(op, held.storage(), (&layout, SeenBy::Others), data))
    }

    /// As [`write`](Self::write), with the elements that `fill` writes into staging memory. The copy is recorded, as by
    /// [`Tensor::write_from`](crate::Tensor::write_from): nothing has to be submitted first, and the host can fill the input
    /// of the next run while the device computes.
    ///
    /// # Errors
    /// As [`write`](Self::write), except that there is no `data` of another length; [`Error::Input`] in the closure of a
    /// `capture`; [`Error::OutOfMemory`] if there is no memory for a staging buffer.
    pub fn write_from<T: Element>(
        &mut self,
        at: usize,
        fill: impl FnOnce(&mut ElementWriter<'_, T>),
    ) -> Result<()> {
        let op = "Replay::write_from";
        let (held, layout) = self.writable::<T>(op, at)?;
        call(op, || self.kept.gpu.write_staged(op, held.storage(), (&layout, SeenBy::Others), fill))
    }

    /// The buffer and the layout of input `at`, whose elements the host is to replace.
    fn writable<T: Element>(&self, op: &'static str, at: usize) -> Result<(Arc<PooledBuffer>, Layout)> {
        let Some(input) = self.inputs.get(at) else {
            let why = format!("the replay has {} inputs, counted from 0", self.inputs.len());
            return Err(Error::input(format!("{op}: input {at}"), why));
        };
        if input.dtype != T::DTYPE {
            let why = format!("its elements are {}, not {}", input.dtype, T::DTYPE);
            return Err(Error::input(format!("{op}: input {at}"), why));
        }
        let Some(held) = input.hold() else {
            let why =
                "the tensor was dropped, so no run can read it: create one, and pass it to the next run";
            return Err(Error::input(format!("{op}: input {at}"), why));
        };
        Ok((held, input.layout))
    }

    /// Number of launches of one run.
    #[must_use]
    pub fn launches(&self) -> usize {
        self.launches.len()
    }

    /// Predicted seconds of one run on the device.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.kept.captured.seconds
    }

    /// Bytes of the buffers that the replay keeps: its outputs and temporaries, and those of tensors that it reads in every run
    /// and that were dropped. [`Stats::bytes_in_use`](crate::gpu::Stats::bytes_in_use) and the memory budget count them.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.kept.bytes()
    }

    pub(in crate::gpu) fn captured_inputs(&self) -> &[ReplayInput] {
        &self.captured_inputs
    }

    /// The bind groups for these inputs, and the inputs to remember; None if they are those of the last run.
    fn bind(&self, views: &[View<'_>]) -> Result<(Arc<Bindings>, Option<Vec<RunInput>>)> {
        if views.len() != self.captured_inputs.len() {
            let why = format!("it was captured with {}, not {}", self.captured_inputs.len(), views.len());
            return Err(Error::input(format!("{OP}: the inputs"), why));
        }
        views.iter().try_for_each(|view| check_same_gpu(OP, &self.kept.gpu, view.gpu()))?;
        if self.inputs.iter().zip(views).all(|(known, view)| known.is(view))
            && let Some(bindings) = self.bindings.upgrade()
        {
            return Ok((bindings, None));
        }
        let inputs: Vec<ReplayInput> = views.iter().map(View::as_input).collect();
        for (at, (captured, input)) in self.captured_inputs.iter().zip(&inputs).enumerate() {
            captured.check(at, input)?;
        }
        if let Some(at) = inputs.iter().position(|input| self.kept.writes(&input.storage)) {
            let why =
                "it lies in a buffer that the replay writes to: copy it, or take turns with a second replay";
            return Err(Error::input(format!("{OP}: input {at}"), why));
        }
        Ok((self.bindings(&inputs)?, Some(inputs.iter().map(RunInput::new).collect())))
    }

    /// The bind groups for these inputs.
    fn bindings(&self, inputs: &[ReplayInput]) -> Result<Arc<Bindings>> {
        if let Some(known) = self.bound.of(inputs) {
            return Ok(known);
        }
        let KeptCapture { gpu, captured, .. } = &self.kept;
        let places = [&self.captured_inputs[..], inputs];
        let create = || Bindings::new(&captured.launches, places, &gpu.inner.device);
        let created = Arc::new(gpu.caught(create)?);
        self.bound.add(&created);
        Ok(created)
    }

    /// Claims the positions that a run with these inputs advances. Those that it only reads have the host's number.
    fn claims(&self, inputs: &[View<'_>]) -> Result<Vec<Claim>> {
        let gpu = &self.kept.gpu;
        if !self.words.is_empty() && gpu.is_capturing() {
            return Err(Error::input(OP, IN_A_CAPTURE));
        }
        let read = self.words.iter().filter(|word| word.new == 0).map(|word| &word.storage);
        inputs.iter().map(View::storage).chain(read).try_for_each(|storage| gpu.bring_word(OP, storage))?;
        let advanced = self.words.iter().filter(|word| word.new > 0);
        advanced.map(|word| gpu.claim_of(OP, &word.cursor, &word.storage, word.new)).collect()
    }

    /// Records a run with these inputs, which are bound.
    fn record(
        &self,
        inputs: (&[View<'_>], &[RunInput]),
        bindings: Arc<Bindings>,
        claims: &[Claim],
    ) -> Result<()> {
        let gpu = &self.kept.gpu;
        if self.launches.len() == 0 {
            return Ok(());
        }
        let bound = self.uses.of_run(inputs, claims);
        let uses = bound.iter().map(|bound| (&*bound.storage, bound.taken_access()));
        for used in uses.clone() {
            gpu.check_taken(OP, used, OwnScope::IsOrdered)?;
        }
        let reports = reports();
        for bound in bound.iter().filter(|bound| bound.may_read_before()) {
            bound.storage.contents.check(&bound.part)?;
        }
        let mut state = gpu.lock_ordered(OP, uses.clone())?;
        let sequence = state.next_sequence();
        let counts = &self.kept.captured.counts;
        if let Some(scope) = state.scope() {
            let Sink::Recording(recording) = &mut scope.sink else {
                return Err(Error::input(OP, IN_A_CAPTURE));
            };
            note_uses(&scope.work, uses);
            recording.push_replay(&self.launches, bindings, bound, (sequence, reports));
            state.counts.add_all(counts);
            return Ok(());
        }
        state.open.push_replay(&self.launches, bindings, bound, (sequence, reports));
        state.open.seconds += self.seconds();
        state.counts.add_all(counts);
        gpu.submit_if_full(state)
    }
}

impl<R> std::fmt::Debug for Replay<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Replay({} launches)", self.launches.len())
    }
}
