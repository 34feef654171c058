//! Buffers that tensors hold: taken from the pool, filled, given back at the last drop.

use super::fault::caught;
use super::handle::Gpu;
use super::lives::Room;
use super::lock::Lock;
use super::mark::Mark;
use super::pool::{Pool, Taken};
use super::pooled::Pooled;
use super::storage::Storage;
use crate::plan::Constant;
use crate::{Element, Error, Result};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Uploads whose data the host generates go in chunks of this many bytes: it holds no more of them in memory.
const CHUNK: usize = 8 << 20;

/// A buffer from the pool and its device.
pub(crate) struct Allocation {
    // NOTE: goes first: while the buffer goes back, the device is there.
    pooled: Pooled,
    gpu: Gpu,
}

impl Allocation {
    pub(crate) fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    pub(crate) fn buffer(&self) -> &wgpu::Buffer {
        &self.pooled.storage().buffer
    }

    /// The size in bytes that was asked for.
    pub(crate) fn len(&self) -> u64 {
        self.pooled.storage().len
    }

    pub(super) fn storage(&self) -> &Arc<Storage> {
        self.pooled.storage()
    }

    /// The buffer without its device.
    pub(super) fn into_pooled(self) -> Pooled {
        self.pooled
    }

    /// Fails if its contents were never computed, because a launch failed.
    pub(crate) fn check(&self) -> Result<()> {
        self.pooled.storage().mark.check()
    }

    /// The sequence at which an operation begins that may write to it in several launches.
    pub(crate) fn begin_write(&self) -> u64 {
        self.gpu.inner.recorder.lock().next_sequence()
    }

    /// Whether a launch that was recorded since then writes to it.
    pub(crate) fn is_written_since(&self, begun: u64) -> bool {
        self.pooled.storage().mark.last_write() > begun
    }

    /// Marks the contents as never computed because of `error`: reading them is an error from now on.
    pub(crate) fn fail(&self, error: &Error) {
        let sequence = self.gpu.inner.recorder.lock().next_sequence();
        self.pooled.storage().mark.fail(sequence, &Arc::from(error.to_string()));
    }
}

impl Gpu {
    /// A buffer of at least `bytes`, its contents unspecified.
    pub(crate) fn allocate(&self, op: &'static str, bytes: u64) -> Result<Allocation> {
        self.allocate_unused(op, bytes, u64::MAX)
    }

    /// Fails if there is no room for these buffers, also where constants of plans give up theirs.
    pub(super) fn check_room(&self, op: &'static str, room: Room) -> Result<()> {
        if room == Room::default() {
            return Ok(());
        }
        let checked = self.inner.pool.lock().check_room(op, room);
        if matches!(checked, Err(Error::OutOfMemory { .. })) && self.inner.constants.forget() {
            return self.inner.pool.lock().check_room(op, room);
        }
        checked
    }

    /// A buffer that holds `bytes`.
    pub(crate) fn upload(&self, op: &'static str, bytes: &[u8]) -> Result<Allocation> {
        let allocation = self.allocate_for_writing(op, bytes.len() as u64)?;
        self.write_words(&allocation, 0, bytes)?;
        Ok(allocation)
    }

    /// A buffer of `len` elements, made chunk by chunk once there is room for it: each call fills the elements from a place
    /// on. A chunk holds zeros at first, and then what the call before has left.
    pub(crate) fn upload_chunks<T: Element>(
        &self,
        op: &'static str,
        len: usize,
        mut fill: impl FnMut(u64, &mut [T]),
    ) -> Result<Allocation> {
        let size = size_of::<T>();
        let allocation = self.allocate_for_writing(op, (len as u64).saturating_mul(size as u64))?;
        let mut chunk = vec![T::zeroed(); len.min(CHUNK / size)];
        let mut start = 0;
        while start < len {
            let part = chunk.len().min(len - start);
            fill(start as u64, &mut chunk[..part]);
            self.write_words(&allocation, (start * size) as u64, bytemuck::cast_slice(&chunk[..part]))?;
            start += part;
        }
        Ok(allocation)
    }

    /// Writes `bytes` at the start of the storage, after everything that was recorded before.
    pub(crate) fn overwrite(&self, allocation: &Allocation, bytes: &[u8]) -> Result<()> {
        self.inner.fault.check()?;
        self.settle(allocation)?;
        self.write_words(allocation, 0, bytes)?;
        if bytes.len() as u64 >= allocation.len() {
            let sequence = self.inner.recorder.lock().next_sequence();
            allocation.pooled.storage().mark.written_whole(sequence);
        }
        Ok(())
    }

    /// The buffer, for an application. Submits the recorded launches that use it; the buffer is not reused for other tensors.
    pub(crate) fn export<'a>(&self, allocation: &'a Allocation) -> Result<&'a wgpu::Buffer> {
        self.settle(allocation)?;
        allocation.check()?;
        allocation.pooled.storage().export();
        Ok(allocation.buffer())
    }

    /// Submits the recorded launches, if any of them uses the buffer. So they run before whatever this crate or the
    /// application submits from then on.
    fn settle(&self, allocation: &Allocation) -> Result<()> {
        let first_unsubmitted = self.inner.recorder.lock().first_unsubmitted();
        if allocation.pooled.storage().mark.last_use() >= first_unsubmitted {
            self.submit_all()
        } else {
            Ok(())
        }
    }

    /// A constant on this device: uploaded, unless the same words are there.
    pub(super) fn constant(&self, op: &'static str, constant: &Constant) -> Result<Arc<Pooled>> {
        if let Some(known) = self.inner.constants.get(constant) {
            return Ok(known);
        }
        // Without the lock: two threads may upload the same words once each.
        let uploaded = self.upload(op, bytemuck::cast_slice(constant.words()))?.into_pooled();
        Ok(self.inner.constants.insert(constant, uploaded))
    }

    /// Frees all buffers that wait for reuse, staging buffers included, and the constants of plans, which are uploaded again
    /// where they are needed.
    pub fn trim(&self) {
        self.inner.constants.forget();
        let tensors = self.inner.pool.lock().shrink(0);
        let staging = self.inner.staging.lock().shrink(0);
        drop((tensors, staging));
    }

    /// Waits for the work that holds buffers of dropped tensors, recorded or under way, and frees those. Does nothing
    /// in a callback that can submit nothing, and in a browser, where nobody waits.
    fn free_behind_work(&self) {
        #[cfg(not(target_arch = "wasm32"))]
        if self.submit_all().is_ok() {
            // The loss of the device is told by whoever allocates.
            let _ = self.wait_for_last();
            self.trim();
        }
    }

    /// Resets [`Stats::bytes_peak`](super::Stats::bytes_peak) to the bytes that are in use now.
    pub fn reset_peak(&self) {
        self.inner.pool.lock().reset_peak();
    }

    /// A buffer for an upload. NOTE: a write to a buffer runs at the next submit, before the open recording. So no unsubmitted
    /// recording may use the buffer: it might do so for an earlier owner.
    fn allocate_for_writing(&self, op: &'static str, bytes: u64) -> Result<Allocation> {
        let first_unsubmitted = self.inner.recorder.lock().first_unsubmitted();
        self.allocate_unused(op, bytes, first_unsubmitted)
    }

    /// Writes whole words. The bytes that follow an odd end become zero; no tensor has them.
    fn write_words(&self, allocation: &Allocation, offset: u64, bytes: &[u8]) -> Result<()> {
        let whole = bytes.len() / 4 * 4;
        if whole > 0 {
            self.stage(allocation, offset, &bytes[..whole])?;
        }
        if whole < bytes.len() {
            let mut word = [0; 4];
            word[..bytes.len() - whole].copy_from_slice(&bytes[whole..]);
            self.stage(allocation, offset + whole as u64, &word)?;
        }
        Ok(())
    }

    fn allocate_unused(&self, op: &'static str, bytes: u64, unused_since: u64) -> Result<Allocation> {
        self.inner.fault.check()?;
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let (buffer, last_use) =
            self.take(&self.inner.pool, op, bytes, unused_since, usage, "tilewise tensor")?;
        let storage = Storage::new(buffer, bytes, Mark::of_buffer(last_use));
        let pooled = Pooled::new(&self.inner.pool, storage);
        Ok(Allocation { pooled, gpu: self.clone() })
    }

    /// Takes a buffer from `pool`, creating it where none is free.
    pub(super) fn take(
        &self,
        pool: &Lock<Pool<wgpu::Buffer>>,
        op: &'static str,
        bytes: u64,
        unused_since: u64,
        usage: wgpu::BufferUsages,
        label: &'static str,
    ) -> Result<(wgpu::Buffer, u64)> {
        let mut taken = pool.lock().take(op, bytes, unused_since);
        // Tables that plans have uploaded are uploaded again where they are needed: they keep nothing else from its memory.
        if matches!(taken, Err(Error::OutOfMemory { .. })) && self.inner.constants.forget() {
            taken = pool.lock().take(op, bytes, unused_since);
        }
        let size = match taken? {
            Taken::Reused(buffer, last_use) => return Ok((buffer, last_use)),
            Taken::Create(size, given_up) => {
                drop(given_up);
                size
            }
        };
        let create = |size| {
            let desc = wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: false };
            caught(&self.inner.device, || self.inner.device.create_buffer(&desc))
        };
        let mut created = create(size);
        // Where the device is short of memory, it may be short of buffers that wait, or that only work under way still
        // holds.
        for free in [Self::trim, Self::free_behind_work] {
            if matches!(created, Err(wgpu::Error::OutOfMemory { .. })) {
                free(self);
                created = create(size);
            }
        }
        match created {
            Ok(buffer) => {
                let is_tensors = usage.contains(wgpu::BufferUsages::STORAGE);
                self.inner.buffers_created.fetch_add(is_tensors.into(), Ordering::Relaxed);
                Ok((buffer, 0))
            }
            Err(error) => {
                let mut pool = pool.lock();
                let given_up = pool.give(size, None);
                drop(pool);
                drop(given_up);
                Err(match error {
                    // The device's memory is used up, whatever is left of a budget.
                    wgpu::Error::OutOfMemory { .. } => {
                        Error::OutOfMemory { op, needed: size, available: None }
                    }
                    other => self.cause_of(other),
                })
            }
        }
    }
}
