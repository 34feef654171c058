//! Writes of the host into storages, ordered after everything that was recorded before.

use crate::error::Named;
use crate::gpu::buffers::cursor::IS_COUNTED;
use crate::gpu::buffers::part::Part;
use crate::gpu::buffers::storage::{Storage, StorageAccess};
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::handle::gpu::Allocation;
use crate::gpu::handle::gpu::Gpu;
use crate::gpu::record::scope::OwnScope;
use crate::gpu::views::view::View;
use crate::layout::{Element, Layout};
use crate::{Error, Result};
use std::ops::Range;

/// Size in bytes of the chunks in which the host generates and uploads data. It bounds the host memory that this takes.
const CHUNK: usize = 8 << 20;

/// Whether other tensors may contain the bytes next to the written ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeenBy {
    Writer,
    Others,
}

impl Gpu {
    /// Replaces the elements of this layout, row-major, after everything that was recorded before.
    pub(crate) fn write_elements<T: Element>(
        &self,
        op: &'static str,
        storage: &Storage,
        (layout, seen_by): (&Layout, SeenBy),
        data: &[T],
    ) -> Result<()> {
        if data.len() != layout.len() {
            let rule = "the data must have as many elements as the tensor";
            return Err(Error::shapes(op, rule, &[data.len()], layout.shape()));
        }
        self.check_no_word(op, storage)?;
        let bytes = writable_bytes::<T>(op, storage, (layout, seen_by))?;
        self.overwrite(storage, bytes.start, bytemuck::cast_slice(data))
    }

    /// Writes `bytes` to the storage from byte `start` on. It begins and ends with whole words, or with the storage.
    fn overwrite(&self, storage: &Storage, start: u64, bytes: &[u8]) -> Result<()> {
        self.inner.status.check()?;
        self.check_outside_capture("write")?;
        self.settle("write", storage, StorageAccess::Writes)?;
        self.write_words(storage, start, bytes).named("write")?;
        let sequence = self.inner.recorder.lock().next_sequence();
        let written = Part::Bytes(start..start + bytes.len() as u64);
        storage.contents.note_overwrite(&written, storage.len, sequence);
        Ok(())
    }

    /// Replaces all elements of a buffer, chunk by chunk, as [`write_chunks`](Self::write_chunks) does, after everything that was
    /// recorded before.
    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::gpu) fn overwrite_chunks<T: Element>(
        &self,
        op: &'static str,
        to: &Allocation,
        mut fill: impl FnMut(u64, &mut [T]),
    ) -> Result<()> {
        let storage = to.storage();
        self.inner.status.check()?;
        self.settle(op, storage, StorageAccess::Writes)?;
        let len = usize::try_from(to.len()).map_err(Error::device)? / size_of::<T>();
        self.write_chunks(op, storage, len, &mut fill)?;
        let sequence = self.inner.recorder.lock().next_sequence();
        storage.contents.note_overwrite(&Part::WHOLE, storage.len, sequence);
        Ok(())
    }

    /// Writes `len` elements to a storage, chunk by chunk. Each call of `fill` receives the index of its first element and the
    /// chunk. The first chunk contains zeros; each later one contains the values that the previous call left.
    pub(in crate::gpu) fn write_chunks<T: Element>(
        &self,
        op: &'static str,
        storage: &Storage,
        len: usize,
        fill: &mut dyn FnMut(u64, &mut [T]),
    ) -> Result<()> {
        let size = size_of::<T>();
        let mut chunk = vec![T::zeroed(); len.min(CHUNK / size)];
        let mut start = 0;
        while start < len {
            let part = chunk.len().min(len - start);
            fill(start as u64, &mut chunk[..part]);
            let bytes = bytemuck::cast_slice(&chunk[..part]);
            self.write_words(storage, (start * size) as u64, bytes).named(op)?;
            start += part;
        }
        Ok(())
    }

    /// Submits all recorded launches if any of them uses the buffer. They then run before all work that this crate or
    /// the application submits later. Fails if taken work that is not submitted conflicts with this access.
    ///
    /// NOTE: the check comes last. Work that another thread takes meanwhile is no longer recorded, but this check detects
    /// it.
    pub(in crate::gpu) fn settle(
        &self,
        op: &'static str,
        storage: &Storage,
        access: StorageAccess,
    ) -> Result<()> {
        let used = (storage, access);
        let first_unsubmitted = self.inner.recorder.lock().first_unsubmitted();
        if storage.contents.last_use() >= first_unsubmitted {
            self.submit_all()?;
        }
        self.check_taken(op, used, OwnScope::Counts)?;
        self.check_earlier_owner(op, used)
    }

    /// Writes whole 4-byte words. If the length is not a multiple of 4, the rest of the last word becomes zero; it
    /// belongs to no tensor.
    pub(in crate::gpu) fn write_words(&self, storage: &Storage, offset: u64, bytes: &[u8]) -> Result<()> {
        let whole = bytes.len() / 4 * 4;
        if whole > 0 {
            self.stage(storage, offset, &bytes[..whole])?;
        }
        if whole < bytes.len() {
            let mut word = [0; 4];
            word[..bytes.len() - whole].copy_from_slice(&bytes[whole..]);
            self.stage(storage, offset + whole as u64, &word)?;
        }
        Ok(())
    }
}

impl View<'_> {
    /// Makes the elements' values from before launches that never ran their values again.
    ///
    /// # Errors
    /// [`Error::Input`] if taken work that is not submitted writes the buffer, or it is the position of a cache;
    /// [`Error::Device`] if the device is lost, or a launch has failed that may have written some of the elements.
    pub(crate) fn revert(&self, op: &'static str) -> Result<()> {
        let gpu = self.gpu();
        gpu.inner.status.check()?;
        gpu.check_outside_scope(op, "looks at what has run")?;
        let storage = self.storage();
        if storage.cursor.get().is_some() {
            return Err(Error::input(format!("{op}: the tensor"), IS_COUNTED));
        }
        gpu.settle(op, storage, StorageAccess::Writes)?;
        storage.contents.revert(&self.part())
    }
}

/// The bytes of this layout, if the host can overwrite them.
///
/// # Errors
/// [`Error::Input`] if the layout has gaps, begins within a word, or ends within one that others may see, or if the buffer
/// is an application's without `COPY_DST`.
pub(in crate::gpu) fn writable_bytes<T: Element>(
    op: &'static str,
    storage: &Storage,
    (layout, seen_by): (&Layout, SeenBy),
) -> Result<Range<u64>> {
    storage.check_copy_destination(op)?;
    let refused = |why: String| Err(Error::input(format!("{op}: the output"), why));
    if !layout.is_contiguous() {
        return refused(format!("it is a view with gaps or transposed axes: {layout:?}"));
    }
    let bytes = layout.bytes(T::DTYPE);
    let is_whole = |at: u64| at.is_multiple_of(4);
    // The rest of the last word becomes zero. So it must be the storage's last word, or no other tensor may contain it.
    let is_last = bytes.end == storage.len || (seen_by == SeenBy::Writer && !storage.is_exported());
    if !is_whole(bytes.start) || !(is_whole(bytes.end) || is_last) {
        return refused(format!("bytes {bytes:?} of its buffer begin or end within a word of 4 bytes"));
    }
    Ok(bytes)
}
