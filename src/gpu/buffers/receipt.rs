//! Receipts of taken work. With them this crate detects that an application has submitted commands, and whether wgpu
//! accepted them, although it neither submits them nor wraps the application's queue.
//!
//! wgpu starts a map that was asked for with `map_buffer_on_submit` inside `Queue::submit`, after the submission itself,
//! and drops its callback if the commands are dropped. Two such maps are attached to the commands:
//!
//! - The map of a receipt, a buffer that the commands copy a number to. It shows whether the submission was accepted: if
//!   it was not, no submission uses the buffer, so the map succeeds at the next poll, and the number is missing. In a
//!   browser, where no poll maps, a refused submission counts as accepted until then.
//! - The map of a buffer that is mapped already. wgpu refuses this map and calls back at once, inside `submit`. That
//!   callback is the signal that the application has submitted.

use crate::gpu::driver::error_scope::in_error_scope;
use crate::gpu::driver::lock::{Lock, foreign};
use crate::gpu::driver::poll::poll_once;
use crate::gpu::driver::progress::{QueueProgress, TICKET_MODULUS};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock, Weak};

/// Maximum number of receipts that are kept for later work.
const MAX_KEPT: usize = 16;

/// Receipts that are free or about to be, and the buffer whose map is the signal.
#[derive(Default)]
pub(in crate::gpu) struct Receipts {
    kept: Arc<Lock<Vec<Slip>>>,
    /// A buffer that stays mapped.
    signal: OnceLock<wgpu::Buffer>,
}

/// The receipt of one submission. Its drop keeps the buffer for another one.
pub(in crate::gpu) struct Receipt {
    slip: Option<Slip>,
    kept: Weak<Lock<Vec<Slip>>>,
}

/// A receipt's buffer.
#[derive(Clone)]
struct Slip {
    buffer: wgpu::Buffer,
    /// The number that the commands copy to the buffer. It differs from the one that the buffer contains before.
    number: u32,
    map: Arc<AtomicU8>,
}

/// The state of a receipt's map: it is pending.
const PENDING: u8 = 0;
/// wgpu has mapped the buffer.
const MAPPED: u8 = 1;
/// It was not requested, has failed, or wgpu has dropped it.
const DROPPED: u8 = 2;

/// The state of a submission, according to its receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gpu) enum Answer {
    /// The commands have run.
    HasRun,
    /// The map is pending. After a poll that means that a submission uses the buffer, so it was accepted.
    Pending,
    /// The map is done, and the commands have not run.
    HasNotRun,
}

impl Receipts {
    /// A receipt for new work. To create a new buffer, this polls the device, which runs callbacks.
    pub(in crate::gpu) fn take(&self, device: &wgpu::Device) -> Result<Receipt, wgpu::Error> {
        let kept = Arc::downgrade(&self.kept);
        // A reader may still read it. Once it is kept, it gets no new readers.
        let is_free =
            |slip: &Slip| slip.map.load(Ordering::Acquire) == MAPPED && Arc::strong_count(&slip.map) == 1;
        let mut slips = self.kept.lock();
        let free = slips.iter().position(is_free).map(|at| slips.swap_remove(at).buffer);
        drop(slips);
        let buffer = free.map_or_else(|| mapped_buffer(device), Ok)?;
        Ok(Receipt { slip: Some(Slip { buffer, number: 0, map: Arc::new(DROPPED.into()) }), kept })
    }

    /// The buffer that stays mapped. The caller opens an error scope around this.
    pub(in crate::gpu) fn signal(&self, device: &wgpu::Device) -> &wgpu::Buffer {
        self.signal.get_or_init(|| {
            let usage = wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC;
            small_buffer(device, usage, true)
        })
    }
}

/// A receipt's buffer, mapped.
///
/// NOTE: mapping fills the buffer with zeros. Otherwise wgpu counts it as filled as soon as it has validated commands that
/// copy to it, even if it then refuses them.
fn mapped_buffer(device: &wgpu::Device) -> Result<wgpu::Buffer, wgpu::Error> {
    let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
    let buffer = in_error_scope(device, || small_buffer(device, usage, false))?;
    // In a browser, new buffers contain zeros in any case.
    if cfg!(not(target_arch = "wasm32")) {
        in_error_scope(device, || foreign(|| buffer.map_async(wgpu::MapMode::Read, .., |_| ())))?;
        // If the device is lost, the call that follows returns the error.
        let _ = poll_once(device);
    }
    Ok(buffer)
}

/// The number in a receipt's buffer, if that is mapped.
fn number_in(buffer: &wgpu::Buffer) -> Option<u32> {
    let view = buffer.get_mapped_range(0..8).ok()?;
    Some(bytemuck::pod_read_unaligned(&view[..4]))
}

fn small_buffer(device: &wgpu::Device, usage: wgpu::BufferUsages, mapped_at_creation: bool) -> wgpu::Buffer {
    let desc = wgpu::BufferDescriptor { label: Some("tilewise receipt"), size: 8, usage, mapped_at_creation };
    device.create_buffer(&desc)
}

impl Receipt {
    /// Chooses the number and unmaps the buffer. The caller opens an error scope around this.
    pub(in crate::gpu) fn begin(&mut self) {
        if let Some(Slip { buffer, number, .. }) = &mut self.slip {
            *number = number_in(buffer).unwrap_or(0) % TICKET_MODULUS + 1;
            buffer.unmap();
        }
    }

    /// Appends the copy of the number. The caller opens an error scope around this.
    pub(in crate::gpu) fn encode(&self, encoder: &mut wgpu::CommandEncoder, progress: &QueueProgress) {
        if let Some(Slip { buffer, number, .. }) = &self.slip {
            progress.encode_number(encoder, *number, buffer);
        }
    }

    /// Attaches the receipt and the signal to the commands. `submitted` is called inside the `submit` that submits them,
    /// even if wgpu refuses them, and dropped uncalled if they are dropped.
    pub(in crate::gpu) fn attach(
        &self,
        encoder: &wgpu::CommandEncoder,
        signal: &wgpu::Buffer,
        submitted: impl FnOnce() + wgpu::WasmNotSend + 'static,
    ) {
        if let Some(Slip { buffer, map, .. }) = &self.slip {
            map.store(PENDING, Ordering::Release);
            let end = MapEnd(map.clone());
            encoder
                .map_buffer_on_submit(buffer, wgpu::MapMode::Read, .., move |mapped| end.is(mapped.is_ok()));
        }
        // The order matters: the signal comes after the receipt's map.
        encoder.map_buffer_on_submit(signal, wgpu::MapMode::Write, .., move |_| submitted());
    }

    /// A copy that reads the same buffer and does not return it.
    pub(in crate::gpu) fn reader(&self) -> Self {
        Self { slip: self.slip.clone(), kept: Weak::new() }
    }

    /// The present state of the receipt. NOTE: it reads the buffer instead of waiting for the callback of its map: the
    /// thread that polls may have to run other callbacks first.
    pub(in crate::gpu) fn answer(&self) -> Answer {
        let Some(slip) = &self.slip else { return Answer::Pending };
        match number_in(&slip.buffer) {
            None => Answer::Pending,
            Some(number) if number == slip.number => Answer::HasRun,
            Some(_) => Answer::HasNotRun,
        }
    }
}

impl Drop for Receipt {
    fn drop(&mut self) {
        let (Some(slip), Some(kept)) = (self.slip.take(), self.kept.upgrade()) else { return };
        let is_dropped = |slip: &Slip| slip.map.load(Ordering::Acquire) == DROPPED;
        let mut slips = kept.lock();
        let mut dropped: Vec<_> = slips.extract_if(.., |slip| is_dropped(slip)).collect();
        let place = if slips.len() < MAX_KEPT && !is_dropped(&slip) { &mut *slips } else { &mut dropped };
        place.push(slip);
        drop(slips);
        drop(dropped);
    }
}

/// Records the end of a receipt's map, even if wgpu drops its callback.
struct MapEnd(Arc<AtomicU8>);

impl MapEnd {
    fn is(self, mapped: bool) {
        self.0.store(if mapped { MAPPED } else { DROPPED }, Ordering::Release);
    }
}

impl Drop for MapEnd {
    fn drop(&mut self) {
        // A map that has ended does not change its state.
        let _ = self.0.compare_exchange(PENDING, DROPPED, Ordering::AcqRel, Ordering::Acquire);
    }
}
