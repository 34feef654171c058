//! Work that an application has taken to submit it itself: the resources that it keeps until then, and its outcome.

use super::content_state::ContentState;
use super::failures::Reason;
use super::part::Part;
use super::receipt::{Answer, Receipt, Receipts};
use super::tensor_pool::TensorPool;
use crate::gpu::driver::lock::Lock;
use crate::gpu::kernels::ring::Ring;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// Taken work. The commands that the application holds share it with the storages that the work uses.
pub(in crate::gpu) struct TakenWork {
    /// The call that took it, for errors.
    pub(in crate::gpu) call: &'static str,
    /// The application's encoder that it is recorded into; None for a command buffer of its own.
    encoder: Option<EncoderId>,
    stage: AtomicU8,
    held: Lock<HeldResources>,
    spares: Arc<Spares>,
}

/// Identity of an application's encoder, as wgpu compares encoders. wgpu gives no encoder the number of an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gpu) struct EncoderId(u64);

impl EncoderId {
    pub(in crate::gpu) fn of(encoder: &wgpu::CommandEncoder) -> Self {
        let mut hasher = DefaultHasher::new();
        encoder.hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// The stage of taken work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gpu) enum TakenStage {
    /// The application has not submitted it.
    Unsubmitted,
    /// It is in a replay, which runs it any number of times and keeps its buffers.
    Captured,
    /// The application has submitted it. It is not known yet whether wgpu has accepted it.
    Submitted,
    /// It is in the queue, or has failed and its outputs are marked so.
    Done,
}

type WeakPool = Weak<TensorPool>;

/// Contents that a launch writes, the part of them, and the sequence of the launch.
type Write = (Arc<ContentState>, Part, u64);

/// Resources that taken work keeps alive and does not access.
pub(in crate::gpu) trait KeptResource: wgpu::WasmNotSendSync {}

impl<T: wgpu::WasmNotSendSync> KeptResource for T {}

/// The resources that taken work keeps.
#[derive(Default)]
struct HeldResources {
    /// Buffers of tensors that were dropped before the work was submitted.
    freed: Vec<FreedBuffer>,
    /// In a capture: the buffers that it has allocated. Its temporaries use only these, because the next run needs the
    /// buffers that the captured launches only read.
    allocated: Option<HashSet<wgpu::Buffer>>,
    /// The recording from which the work was taken. The pool holds back the buffers that it uses.
    held_back: Option<(WeakPool, u64)>,
    /// The work's dims, on a device without immediates.
    rings: Vec<Ring>,
    /// Bytes of uploads that go to the queue with the work at the latest.
    bytes_staged: u64,
    /// The storages that the work uses. So the state of an application's buffer outlives its tensors.
    ///
    /// NOTE: a storage refers to the work that uses it, so the two keep each other alive until the work is submitted or
    /// dropped.
    storages: Option<Box<dyn KeptResource>>,
    /// What the work writes, with the sequences of its launches.
    writes: Vec<Write>,
    receipt: Option<Receipt>,
}

/// State that taken work leaves for later work.
#[derive(Default)]
pub(in crate::gpu) struct Spares {
    pub(in crate::gpu) receipts: Receipts,
    pub(in crate::gpu) rings: Lock<Vec<Ring>>,
    /// Bytes of uploads of work that was dropped: they still wait for a submission.
    pub(in crate::gpu) bytes_left: AtomicU64,
}

/// A buffer whose last tensor was dropped while taken work uses it.
pub(in crate::gpu) struct FreedBuffer {
    pub(in crate::gpu) pool: WeakPool,
    pub(in crate::gpu) buffer: wgpu::Buffer,
    /// None if the application has access to the buffer, so that the pool does not reuse it.
    pub(in crate::gpu) last_use: Option<u64>,
    /// Taken work that uses it, except the work that keeps it.
    pub(in crate::gpu) users: Vec<Arc<TakenWork>>,
}

impl TakenWork {
    pub(in crate::gpu) fn new(
        call: &'static str,
        encoder: Option<EncoderId>,
        spares: &Arc<Spares>,
    ) -> Arc<Self> {
        let stage = AtomicU8::new(TakenStage::Unsubmitted as u8);
        Arc::new(Self { call, encoder, stage, held: Lock::default(), spares: spares.clone() })
    }

    /// Whether this work is `known` or runs after it: work of one encoder runs in the order of recording.
    pub(in crate::gpu) fn follows(&self, known: &Self) -> bool {
        std::ptr::eq(self, known) || (self.encoder.is_some() && self.encoder == known.encoder)
    }

    /// Whether it is recorded into an application's encoder, as whole operations.
    pub(in crate::gpu) fn is_in_encoder(&self) -> bool {
        self.encoder.is_some()
    }

    pub(in crate::gpu) fn stage(&self) -> TakenStage {
        match self.stage.load(Ordering::Acquire) {
            0 => TakenStage::Unsubmitted,
            1 => TakenStage::Captured,
            2 => TakenStage::Submitted,
            _ => TakenStage::Done,
        }
    }

    /// Gives the work the resources that it keeps until it is submitted.
    pub(in crate::gpu) fn hold(
        &self,
        rings: Vec<Ring>,
        storages: Box<dyn KeptResource>,
        writes: Vec<Write>,
        receipt: Receipt,
    ) {
        let mut held = self.held.lock();
        held.rings = rings;
        held.storages = Some(storages);
        held.writes = writes;
        held.receipt = Some(receipt);
    }

    /// Adds uploads that go to the queue with the work at the latest.
    pub(in crate::gpu) fn hold_uploads(&self, bytes: u64) {
        self.held.lock().bytes_staged += bytes;
    }

    /// Until the work is submitted or dropped, no request to the pool gets a buffer that this recording used last. The
    /// recording is the work, which may run later than work that is recorded after it.
    pub(in crate::gpu) fn hold_back(&self, pool: &Arc<TensorPool>, recording: u64) {
        pool.lock().hold_back(recording);
        self.held.lock().held_back = Some((Arc::downgrade(pool), recording));
    }

    /// Keeps a freed buffer until the work is submitted, or its replay dropped. Returns the buffer if that has happened
    /// already.
    fn keep(&self, freed: FreedBuffer) -> Option<FreedBuffer> {
        let mut held = self.held.lock();
        if !self.holds_buffers() {
            return Some(freed);
        }
        held.freed.push(freed);
        None
    }

    /// Whether the work keeps the buffers that it uses, because it will run.
    pub(in crate::gpu) fn holds_buffers(&self) -> bool {
        matches!(self.stage(), TakenStage::Unsubmitted | TakenStage::Captured)
    }

    /// Takes a freed buffer of this size that no other taken work uses, for a later launch of the same work.
    pub(in crate::gpu) fn reuse(self: &Arc<Self>, size: u64) -> Option<FreedBuffer> {
        let mut held = self.held.lock();
        let is_own = |users: &[Arc<Self>]| users.iter().all(|user| Arc::ptr_eq(user, self));
        let HeldResources { freed, allocated, .. } = &*held;
        let may_be_overwritten =
            |freed: &FreedBuffer| allocated.as_ref().is_none_or(|own| own.contains(&freed.buffer));
        let fits = |freed: &FreedBuffer| {
            let is_free = freed.last_use.is_some() && is_own(&freed.users);
            freed.buffer.size() == size && is_free && may_be_overwritten(freed)
        };
        let at = freed.iter().rposition(fits)?;
        let mut freed = held.freed.swap_remove(at);
        freed.users.push(self.clone());
        Some(freed)
    }

    /// Whether the work is a capture.
    pub(in crate::gpu) fn is_capture(&self) -> bool {
        self.stage() == TakenStage::Captured || self.held.lock().allocated.is_some()
    }

    /// The work is a capture, which keeps what it allocates.
    pub(in crate::gpu) fn begin_capture(&self) {
        self.held.lock().allocated = Some(HashSet::new());
    }

    /// Records that a capture has allocated this buffer. Returns whether the work is one.
    pub(in crate::gpu) fn owns(&self, buffer: &wgpu::Buffer) -> bool {
        let mut held = self.held.lock();
        let Some(own) = &mut held.allocated else { return false };
        own.insert(buffer.clone());
        true
    }

    /// Bytes of the buffers that only the replay of this capture keeps: those that the capture has allocated, and those of
    /// dropped tensors that it reads.
    pub(in crate::gpu) fn bytes(&self) -> u64 {
        let held = self.held.lock();
        let own = held.allocated.iter().flatten().map(wgpu::Buffer::size).sum::<u64>();
        let is_other =
            |freed: &&FreedBuffer| held.allocated.as_ref().is_none_or(|own| !own.contains(&freed.buffer));
        own + held.freed.iter().filter(is_other).map(|freed| freed.buffer.size()).sum::<u64>()
    }

    /// The buffers that the capture has allocated.
    pub(in crate::gpu) fn allocated(&self) -> HashSet<wgpu::Buffer> {
        self.held.lock().allocated.clone().unwrap_or_default()
    }

    /// The capture is complete: a replay runs it from now on. It keeps its buffers until [`retire`](Self::retire).
    pub(in crate::gpu) fn captured(&self) {
        let held = self.held.lock();
        self.stage.fetch_max(TakenStage::Captured as u8, Ordering::AcqRel);
        drop(held);
    }

    /// The replay will not run any more. Returns its buffers to the pool. `used` adds to each buffer its uses since the
    /// capture: the last run, and the work that still uses it.
    pub(in crate::gpu) fn retire(&self, used: impl Fn(&mut FreedBuffer)) {
        for mut freed in self.leave(TakenStage::Done).freed {
            used(&mut freed);
            freed.release();
        }
    }

    /// The application has submitted the work, though wgpu may have refused it.
    pub(in crate::gpu) fn submitted(&self) {
        let kept = self.leave(TakenStage::Submitted);
        self.give_back(kept);
    }

    /// The work will never run. Marks its outputs as not written.
    pub(in crate::gpu) fn fail(&self, why: &Reason) {
        // NOTE: under the lock, so that another thread that finds the same passes only when all are marked.
        let held = self.held.lock();
        for (contents, part, sequence) in &held.writes {
            // What was taken from the open recording may be the end of an operation whose first launches have run.
            match self.is_in_encoder() {
                true => contents.never_ran(*sequence, part, why),
                false => contents.fail(*sequence, part, why),
            }
        }
        drop(held);
        let mut kept = self.leave(TakenStage::Done);
        self.spares.bytes_left.fetch_add(std::mem::take(&mut kept.bytes_staged), Ordering::Relaxed);
        self.give_back(kept);
    }

    /// Whether wgpu has accepted the submission. `poll` polls the device once. Afterwards the work is done: its outputs
    /// are marked as failed if it was refused.
    pub(in crate::gpu) fn confirm(&self, poll: impl FnOnce()) {
        let receipt = self.held.lock().receipt.as_ref().map(Receipt::reader);
        let Some(receipt) = receipt.filter(|_| self.stage() == TakenStage::Submitted) else { return };
        let mut answer = receipt.answer();
        if answer == Answer::Pending {
            poll();
            answer = receipt.answer();
        }
        if answer == Answer::HasNotRun {
            let why = format!("the commands of `{}` were refused when they were submitted", self.call);
            return self.fail(&why.into());
        }
        let kept = self.leave(TakenStage::Done);
        self.give_back(kept);
    }

    /// Enters a later stage, and takes the resources that this stage does not need.
    fn leave(&self, stage: TakenStage) -> HeldResources {
        let mut held = self.held.lock();
        self.stage.fetch_max(stage as u8, Ordering::AcqRel);
        let mut kept = std::mem::take(&mut *held);
        if stage == TakenStage::Submitted {
            held.writes = std::mem::take(&mut kept.writes);
            held.receipt = kept.receipt.take();
        }
        kept
    }

    fn give_back(&self, kept: HeldResources) {
        let HeldResources { freed, held_back, rings, receipt, .. } = kept;
        self.spares.rings.lock().extend(rings);
        drop(receipt);
        if let Some((pool, recording)) = held_back
            && let Some(pool) = pool.upgrade()
        {
            let evicted = pool.lock().let_go(recording);
            pool.drop_evicted(evicted);
        }
        freed.into_iter().for_each(FreedBuffer::release);
    }
}

impl FreedBuffer {
    /// Returns the buffer to its pool, unless taken work that is not yet submitted uses it: that work keeps it.
    ///
    /// NOTE: work that runs earlier must not get the buffer. So it goes back when the last such work is in the queue.
    pub(in crate::gpu) fn release(mut self) {
        while let Some(user) = self.users.pop() {
            match user.keep(self) {
                None => return,
                Some(freed) => self = freed,
            }
        }
        // The pool was dropped together with the device.
        let Some(pool) = self.pool.upgrade() else { return };
        pool.give(self.buffer.size(), self.buffer, self.last_use);
    }
}

/// The handle that the commands have of taken work. Its drop reports that they were dropped.
pub(in crate::gpu) struct Commands(Option<Arc<TakenWork>>);

impl Commands {
    pub(in crate::gpu) fn of(work: &Arc<TakenWork>) -> Self {
        Self(Some(work.clone()))
    }

    /// The application has submitted the commands.
    pub(in crate::gpu) fn submitted(mut self) {
        self.0.take().into_iter().for_each(|work| work.submitted());
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        if let Some(work) = self.0.take() {
            let why = format!(
                "the commands of `{}` were dropped without being submitted; record them again",
                work.call
            );
            work.fail(&why.into());
        }
    }
}
