//! Allocates tensors' buffers from the pool, fills them, and frees cached ones.

use crate::error::Named;
use crate::gpu::buffers::content_state::ContentState;
use crate::gpu::buffers::pool::PoolAnswer;
use crate::gpu::buffers::pooled_buffer::PooledBuffer;
use crate::gpu::buffers::storage::Storage;
use crate::gpu::driver::error_scope::in_error_scope;
use crate::gpu::handle::gpu::{Allocation, Gpu};
use crate::gpu::handle::memory::TENSOR_USAGES;
use crate::gpu::kernels::lifetimes::MemoryNeed;
use crate::gpu::raw;
use crate::plan::Constant;
#[cfg(not(target_arch = "wasm32"))]
use crate::progress::unreported;
use crate::{Element, Error, Result};
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Gpu {
    /// Allocates a buffer of at least `bytes`. Its contents are unspecified.
    pub(crate) fn allocate(&self, op: &'static str, bytes: u64) -> Result<Allocation> {
        let mut state = self.inner.recorder.lock();
        let (work, first_unsubmitted) = (state.own_work(), state.first_unsubmitted());
        drop(state);
        let Some(work) = work else { return self.allocate_unused(op, bytes, u64::MAX) };
        // In the closure of `record_into`: buffers that its launches have freed can be reused by its later launches.
        // Other buffers can be reused only if no recording that is not yet submitted uses them, because it may run
        // later.
        let size = self.inner.pool.lock().class(bytes);
        match work.reuse(size) {
            Some(freed) => {
                let pooled = Arc::new(PooledBuffer::again(freed, bytes));
                Ok(Allocation { pooled, gpu: self.clone() })
            }
            None => {
                let allocation = self.allocate_unused(op, bytes, first_unsubmitted)?;
                allocation.storage().note_allocated_by(&work);
                Ok(allocation)
            }
        }
    }

    /// Fails if there is not enough memory for these buffers, even after the constants of plans are freed.
    pub(in crate::gpu) fn check_memory(&self, op: &'static str, need: MemoryNeed) -> Result<()> {
        if need == MemoryNeed::default() {
            return Ok(());
        }
        let checked = self.inner.pool.lock().check_memory(op, need);
        if matches!(checked, Err(Error::OutOfMemory { .. })) && self.inner.constants.forget() {
            return self.inner.pool.lock().check_memory(op, need);
        }
        checked
    }

    /// Allocates a buffer and uploads `bytes` to it.
    pub(crate) fn upload(&self, op: &'static str, bytes: &[u8]) -> Result<Allocation> {
        self.check_outside_capture(op)?;
        self.upload_constant(op, bytes)
    }

    /// As [`upload`](Self::upload), in the closure of `capture` too, for data that never changes.
    pub(crate) fn upload_constant(&self, op: &'static str, bytes: &[u8]) -> Result<Allocation> {
        let allocation = self.allocate_for_writing(op, bytes.len() as u64)?;
        self.write_words(allocation.storage(), 0, bytes).named(op)?;
        Ok(allocation)
    }

    /// Allocates a buffer of `len` elements, then fills and uploads it chunk by chunk. Each call of `fill` receives the
    /// index of its first element and the chunk. The first chunk contains zeros; each later one contains the values
    /// that the previous call left.
    pub(crate) fn upload_chunks<T: Element>(
        &self,
        op: &'static str,
        len: usize,
        mut fill: impl FnMut(u64, &mut [T]),
    ) -> Result<Allocation> {
        self.check_outside_capture(op)?;
        let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
        let allocation = self.allocate_for_writing(op, bytes)?;
        self.write_chunks(op, allocation.storage(), len, &mut fill)?;
        Ok(allocation)
    }

    /// The buffer of a constant on this device, uploaded unless the same words are there already.
    pub(in crate::gpu) fn constant(
        &self,
        op: &'static str,
        constant: &Constant,
    ) -> Result<Arc<PooledBuffer>> {
        if let Some(known) = self.inner.constants.get(constant) {
            return Ok(known);
        }
        // The lock is not held during the upload, so two threads may upload the same words at the same time.
        let uploaded = self.upload_constant(op, bytemuck::cast_slice(constant.words()))?.into_pooled();
        Ok(self.inner.constants.insert(constant, uploaded))
    }

    /// Frees everything that is cached for later calls and can be created again: cached buffers, including staging buffers;
    /// the constants of plans, which are uploaded again when they are needed; compiled pipelines and their plans, which are
    /// compiled and planned again; and the bind groups of replays for their last inputs. Resources that a
    /// [`Replay`](crate::Replay) needs for its next run, or that work under way uses, are kept.
    pub fn trim(&self) {
        self.trim_buffers();
        self.inner.pipelines.trim();
        self.inner.plans.forget_uncompiled();
        raw::trim_heap();
    }

    /// Frees all cached buffers, constants and bind groups, which are created again when they are needed.
    fn trim_buffers(&self) {
        self.inner.constants.forget();
        self.inner.pool.unbind_all();
        let tensors = self.inner.pool.lock().shrink(0);
        let (reads, uploads) = (self.inner.reads.ring.shrink(), self.inner.uploads.ring.shrink());
        let rings = std::mem::take(&mut self.inner.recorder.lock().rings);
        let spare_rings = std::mem::take(&mut *self.inner.spares.rings.lock());
        drop((tensors, reads, uploads, rings, spare_rings));
    }

    /// Waits for recorded and submitted work that uses buffers of dropped tensors, then frees these buffers. Does
    /// nothing in a callback that may not submit, in the closure of `record_into`, or in a browser, where nothing may block.
    fn wait_and_trim(&self) {
        #[cfg(not(target_arch = "wasm32"))]
        if self.check_outside_scope("allocate", "waits").is_ok() && self.submit_all().is_ok() {
            // If the device is lost, the allocation that follows returns the error.
            let _ = unreported(|| self.wait_for_last());
            self.trim_buffers();
        }
    }

    /// Resets [`Stats::bytes_peak`](crate::gpu::Stats::bytes_peak) to the bytes that are in use now.
    pub fn reset_peak(&self) {
        self.inner.pool.lock().reset_peak();
    }

    /// Allocates a buffer for an upload. NOTE: a queue write runs at the next submission, before the open recording. So
    /// no recording that is not yet submitted may use the buffer, which it might do on behalf of an earlier owner.
    fn allocate_for_writing(&self, op: &'static str, bytes: u64) -> Result<Allocation> {
        let first_unsubmitted = self.inner.recorder.lock().first_unsubmitted();
        self.allocate_unused(op, bytes, first_unsubmitted)
    }

    fn allocate_unused(&self, op: &'static str, bytes: u64, unused_since: u64) -> Result<Allocation> {
        self.inner.status.check()?;
        let (buffer, last_use) = self.take(op, bytes, unused_since, TENSOR_USAGES)?;
        let storage = Storage::new(buffer, bytes, ContentState::of_reused_buffer(last_use));
        self.pooled(storage)
    }

    /// Allocates a buffer with further usages. The pool counts its bytes, but never reuses it.
    pub(crate) fn allocate_with(
        &self,
        op: &'static str,
        bytes: u64,
        usages: wgpu::BufferUsages,
    ) -> Result<Allocation> {
        self.inner.status.check()?;
        // No free buffer was last used before recording 0, so a new one is created.
        let usages = TENSOR_USAGES | usages;
        let (buffer, _) = self.take(op, bytes, 0, usages)?;
        let storage = Storage::new(buffer, bytes, ContentState::default());
        storage.export();
        self.pooled(storage)
    }

    fn pooled(&self, storage: Storage) -> Result<Allocation> {
        let pooled = Arc::new(PooledBuffer::new(&self.inner.pool, storage));
        Ok(Allocation { pooled, gpu: self.clone() })
    }

    /// Takes a free buffer from the pool, or creates one.
    fn take(
        &self,
        op: &'static str,
        bytes: u64,
        unused_since: u64,
        usage: wgpu::BufferUsages,
    ) -> Result<(wgpu::Buffer, u64)> {
        let pool = &self.inner.pool;
        let mut taken = pool.lock().take(op, bytes, unused_since);
        // The constants of plans can be uploaded again when they are needed, so they never cause an allocation to fail.
        if matches!(taken, Err(Error::OutOfMemory { .. })) && self.inner.constants.forget() {
            taken = pool.lock().take(op, bytes, unused_since);
        }
        let size = match taken? {
            PoolAnswer::Reused(buffer, last_use) => return Ok((buffer, last_use)),
            PoolAnswer::Create(size, evicted) => {
                pool.drop_evicted(evicted);
                size
            }
        };
        let label = Some("tilewise tensor");
        let desc = wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: false };
        let created = self.create(op, &desc).inspect_err(|_| {
            let evicted = pool.lock().give(size, None);
            pool.drop_evicted(evicted);
        });
        self.inner.buffers_created.fetch_add(created.is_ok().into(), Ordering::Relaxed);
        Ok((created?, 0))
    }

    /// Creates a buffer. If the device is out of memory, first frees the cached buffers and tries again; then waits for
    /// the work that still uses freed buffers, and tries again.
    pub(in crate::gpu) fn create(
        &self,
        op: &'static str,
        desc: &wgpu::BufferDescriptor<'_>,
    ) -> Result<wgpu::Buffer> {
        let create = || in_error_scope(&self.inner.device, || self.inner.device.create_buffer(desc));
        let mut created = create();
        for free in [Self::trim_buffers, Self::wait_and_trim] {
            if matches!(created, Err(wgpu::Error::OutOfMemory { .. })) {
                free(self);
                created = create();
            }
        }
        created.map_err(|error| match error {
            // The device itself is out of memory, even if the budget is not used up.
            wgpu::Error::OutOfMemory { .. } => Error::OutOfMemory { op, needed: desc.size, available: None },
            other => self.cause_of(other),
        })
    }
}
