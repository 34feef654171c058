//! Buffers that tensors hold: taken from the pool, filled, given back at the last drop.

use super::fault::caught;
use super::pool::{Pool, Taken};
use super::{Gpu, lock};
use crate::{Error, Result};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that every window of a buffer starts at a multiple of: no device asks for more.
pub(crate) const WINDOW_ALIGNMENT: u64 = 256;

/// A buffer from the pool, which goes back when this is dropped.
pub(crate) struct Allocation {
    gpu: Gpu,
    buffer: wgpu::Buffer,
    touched: AtomicU64,
}

impl Allocation {
    pub(crate) fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    pub(crate) fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// Notes that a recording uses the buffer.
    pub(super) fn touch(&self, recording: u64) {
        self.touched.store(recording, Ordering::Relaxed);
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        let touched = self.touched.load(Ordering::Relaxed);
        lock(&self.gpu.inner.pool).give(self.buffer.size(), Some((self.buffer.clone(), touched)));
    }
}

impl Gpu {
    /// A buffer of at least `bytes`, its contents unspecified.
    pub(crate) fn allocate(&self, op: &'static str, bytes: u64) -> Result<Allocation> {
        self.allocate_untouched(op, bytes, u64::MAX)
    }

    /// A buffer that holds `bytes`.
    pub(crate) fn upload(&self, op: &'static str, bytes: &[u8]) -> Result<Allocation> {
        // NOTE: a write to a buffer runs at the next submit, before the recording that is open. So the buffer must
        // not be one that the open recording has touched, on behalf of an owner that is gone.
        let open = lock(&self.inner.recorder).number();
        let allocation = self.allocate_untouched(op, bytes.len() as u64, open)?;
        self.write_words(allocation.buffer(), 0, bytes);
        Ok(allocation)
    }

    /// Replaces the bytes from `offset` on, after everything that was recorded before.
    pub(crate) fn overwrite(&self, allocation: &Allocation, offset: u64, bytes: &[u8]) -> Result<()> {
        self.inner.fault.check()?;
        let open = lock(&self.inner.recorder).number();
        if allocation.touched.load(Ordering::Relaxed) >= open {
            self.flush()?;
        }
        self.write_words(allocation.buffer(), offset, bytes);
        Ok(())
    }

    /// Writes whole words. The bytes behind an odd end are padding: only whole buffers and whole words come here.
    fn write_words(&self, buffer: &wgpu::Buffer, offset: u64, bytes: &[u8]) {
        let whole = bytes.len() / 4 * 4;
        if whole > 0 {
            self.inner.queue.write_buffer(buffer, offset, &bytes[..whole]);
        }
        if whole < bytes.len() {
            let mut word = [0; 4];
            word[..bytes.len() - whole].copy_from_slice(&bytes[whole..]);
            self.inner.queue.write_buffer(buffer, offset + whole as u64, &word);
        }
    }

    fn allocate_untouched(&self, op: &'static str, bytes: u64, untouched_since: u64) -> Result<Allocation> {
        self.inner.fault.check()?;
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let (buffer, touched) =
            self.take(&self.inner.pool, op, bytes, untouched_since, usage, "tilewise tensor")?;
        Ok(Allocation { gpu: self.clone(), buffer, touched: AtomicU64::new(touched) })
    }

    /// Takes a buffer from `pool`, creating it where none is free.
    pub(super) fn take(
        &self,
        pool: &Mutex<Pool>,
        op: &'static str,
        bytes: u64,
        untouched_since: u64,
        usage: wgpu::BufferUsages,
        label: &'static str,
    ) -> Result<(wgpu::Buffer, u64)> {
        let taken = lock(pool).take(op, bytes, untouched_since)?;
        let size = match taken {
            Taken::Reused(buffer, touched) => return Ok((buffer, touched)),
            Taken::Create(size) => size,
        };
        let create = |size| {
            let desc = wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: false };
            caught(&self.inner.device, || self.inner.device.create_buffer(&desc))
        };
        // Where the device is short of memory, the buffers that wait may be what it is short of.
        let created = create(size).or_else(|error| match error {
            wgpu::Error::OutOfMemory { .. } => {
                lock(pool).shrink(0);
                create(size)
            }
            other => Err(other),
        });
        match created {
            Ok(buffer) => {
                lock(&self.inner.counts).buffers_created +=
                    u64::from(usage.contains(wgpu::BufferUsages::STORAGE));
                Ok((buffer, 0))
            }
            Err(error) => {
                let mut pool = lock(pool);
                pool.give(size, None);
                match error {
                    wgpu::Error::OutOfMemory { .. } => {
                        Err(Error::OutOfMemory { op, needed: size, available: pool.available() })
                    }
                    other => Err(Error::device(other)),
                }
            }
        }
    }
}

/// The window of a buffer that holds these bytes: aligned for a binding, and in whole units of 16 bytes, because a kernel
/// may read whole units and mask what is not the operand's. The size of every buffer is a multiple of 256.
pub(crate) fn window(bytes: Range<u64>) -> Range<u64> {
    let start = bytes.start / WINDOW_ALIGNMENT * WINDOW_ALIGNMENT;
    start..bytes.end.max(start + 1).next_multiple_of(16)
}
