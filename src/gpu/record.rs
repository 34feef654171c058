//! The recording: launches appended to one open compute pass, submitted in batches.

use super::fault::caught;
use super::memory::Allocation;
use super::options::Submission;
use super::pipeline::{Dims, Pipeline, ring_layout};
use super::{Gpu, lock};
use crate::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A recording is submitted with this many launches,
const ENTRIES_AT_MOST: usize = 64;
/// or with this much predicted work: the device starts while the host goes on.
const SECONDS_AT_MOST: f64 = 2e-3;
/// Bytes of one entry of the ring: the alignment of dynamic offsets that every device allows.
const RING_STEP: usize = 256;

/// The work that is recorded and not submitted. Its pass is open from the first launch on.
pub(super) struct Recorder {
    encoder: Option<wgpu::CommandEncoder>,
    pass: Option<wgpu::ComputePass<'static>>,
    /// Counts recordings from 1; buffers remember the last that touched them.
    number: u64,
    entries: usize,
    seconds: f64,
    ring: Ring,
    /// What the pass writes its timestamps to; while it is timed, it is not submitted by itself.
    pub(super) timestamps: Option<wgpu::QuerySet>,
    pub(super) last: Option<wgpu::SubmissionIndex>,
}

/// The dims of one recording, for kernels without immediates. One buffer serves all recordings: it is
/// written as each is submitted, and the queue's order keeps the writes behind the launches that read it.
struct Ring {
    buffer: wgpu::Buffer,
    group: wgpu::BindGroup,
    bytes: Vec<u8>,
}

/// One launch.
pub(super) struct Entry<'a> {
    pub(super) pipeline: &'a Pipeline,
    pub(super) bind_group: &'a wgpu::BindGroup,
    pub(super) dims: &'a [u8],
    pub(super) grid: [u32; 3],
    pub(super) seconds: f64,
}

impl Recorder {
    pub(super) fn new(device: &wgpu::Device) -> Self {
        Self {
            encoder: None,
            pass: None,
            number: 1,
            entries: 0,
            seconds: 0.0,
            ring: Ring::new(device),
            timestamps: None,
            last: None,
        }
    }

    /// The number of the recording that is open, or would be with the next launch.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    fn append(&mut self, device: &wgpu::Device, entry: &Entry<'_>) {
        let encoder = self.encoder.get_or_insert_with(|| {
            device
                .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("tilewise recording") })
        });
        let timestamps = self.timestamps.as_ref();
        let pass = self.pass.get_or_insert_with(|| {
            let timestamp_writes = timestamps.map(|query_set| wgpu::ComputePassTimestampWrites {
                query_set,
                beginning_of_pass_write_index: Some(0),
                end_of_pass_write_index: Some(1),
            });
            let desc = wgpu::ComputePassDescriptor { label: Some("tilewise"), timestamp_writes };
            encoder.begin_compute_pass(&desc).forget_lifetime()
        });
        pass.set_pipeline(&entry.pipeline.pipeline);
        pass.set_bind_group(0, entry.bind_group, &[]);
        match entry.pipeline.dims {
            Dims::Immediates(_) => pass.set_immediates(0, entry.dims),
            Dims::Ring => {
                let offset = self.ring.push(entry.dims);
                pass.set_bind_group(1, &self.ring.group, &[offset]);
            }
        }
        let [x, y, z] = entry.grid;
        pass.dispatch_workgroups(x, y, z);
        self.entries += 1;
        self.seconds += entry.seconds;
    }

    /// Whether anything is recorded.
    pub(super) fn is_open(&self) -> bool {
        self.entries > 0
    }

    fn is_full(&self) -> bool {
        let due = self.timestamps.is_none() && self.seconds >= SECONDS_AT_MOST;
        due || self.entries >= ENTRIES_AT_MOST
    }

    /// Ends the pass and hands out the encoder, to add copies behind it and submit.
    fn end_pass(&mut self, device: &wgpu::Device) -> wgpu::CommandEncoder {
        self.pass = None;
        self.encoder.take().unwrap_or_else(|| {
            device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("tilewise") })
        })
    }

    fn submit(&mut self, queue: &wgpu::Queue, encoder: wgpu::CommandEncoder) -> wgpu::SubmissionIndex {
        if !self.ring.bytes.is_empty() {
            queue.write_buffer(&self.ring.buffer, 0, &self.ring.bytes);
            self.ring.bytes.clear();
        }
        let index = queue.submit([encoder.finish()]);
        self.last = Some(index.clone());
        self.number += 1;
        self.entries = 0;
        self.seconds = 0.0;
        index
    }
}

impl Ring {
    fn new(device: &wgpu::Device) -> Self {
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("tilewise dims"),
            size: (ENTRIES_AT_MOST * RING_STEP) as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let window = wgpu::BufferBinding {
            buffer: &buffer,
            offset: 0,
            size: std::num::NonZeroU64::new(RING_STEP as u64),
        };
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("tilewise dims"),
            layout: &ring_layout(device),
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::Buffer(window) }],
        });
        Self { buffer, group, bytes: Vec::with_capacity(ENTRIES_AT_MOST * RING_STEP) }
    }

    /// Appends one entry's dims; returns their offset.
    fn push(&mut self, dims: &[u8]) -> wgpu::DynamicOffset {
        let offset = self.bytes.len();
        self.bytes.extend_from_slice(dims);
        self.bytes.resize(offset + RING_STEP, 0);
        wgpu::DynamicOffset::try_from(offset).unwrap_or(wgpu::DynamicOffset::MAX)
    }
}

impl Gpu {
    /// Appends one launch to the recording, and submits that if it is full.
    pub(super) fn record<'a>(
        &self,
        entry: &Entry<'_>,
        touched: impl Iterator<Item = &'a Allocation>,
    ) -> Result<()> {
        let mut recorder = lock(&self.inner.recorder);
        recorder.append(&self.inner.device, entry);
        let number = recorder.number;
        touched.for_each(|allocation| allocation.touch(number));
        let each = self.inner.options.submission == Submission::EachLaunch && recorder.timestamps.is_none();
        if each || recorder.is_full() {
            let index = self.submit(&mut recorder, |_| ())?;
            drop(recorder);
            if each {
                let name = |error| Error::device(format!("{} failed: {error}", entry.pipeline.name));
                self.wait_for(&index).and_then(|()| self.inner.fault.check()).map_err(name)?;
            }
        }
        Ok(())
    }

    /// Submits what is recorded. Work that the application submits afterwards sees its results.
    ///
    /// # Errors
    /// [`Error::Device`] if the device is lost or a launch before failed.
    pub fn flush(&self) -> Result<()> {
        self.inner.fault.check()?;
        let mut recorder = lock(&self.inner.recorder);
        if recorder.is_open() {
            self.submit(&mut recorder, |_| ())?;
        }
        Ok(())
    }

    /// Submits what is recorded and waits until all of it is done.
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn wait(&self) -> Result<()> {
        self.flush()?;
        let last = lock(&self.inner.recorder).last.clone();
        last.map_or(Ok(()), |index| self.wait_for(&index))?;
        self.inner.fault.check()
    }

    /// Ends the pass, lets `behind` add commands behind it, and submits.
    pub(super) fn submit(
        &self,
        recorder: &mut Recorder,
        behind: impl FnOnce(&mut wgpu::CommandEncoder),
    ) -> Result<wgpu::SubmissionIndex> {
        self.inner.fault.check()?;
        let submitted = caught(&self.inner.device, || {
            let mut encoder = recorder.end_pass(&self.inner.device);
            behind(&mut encoder);
            recorder.submit(&self.inner.queue, encoder)
        });
        lock(&self.inner.counts).submits += 1;
        submitted.map_err(|error| self.cause_of(error))
    }

    /// What is behind an error: a loss, if the device is lost. NOTE: what is created on a lost device is invalid, and
    /// using it fails before the loss is told, which is when all work has ended and some thread that polls has called
    /// back. What tells at once is a submission: a lost device takes none, not even an empty one. An adopted device is
    /// polled by its application, and its loss is told to it.
    fn cause_of(&self, error: wgpu::Error) -> Error {
        #[cfg(not(target_arch = "wasm32"))]
        if self.inner.waiter.is_some() {
            // An error of the wait is kept as the fault, and told below.
            let _ = self.wait_for(&self.inner.queue.submit([]));
        }
        self.inner.fault.check().err().unwrap_or_else(|| Error::device(error))
    }

    /// Waits for a submission, running its callbacks in this thread.
    pub(super) fn wait_for(&self, index: &wgpu::SubmissionIndex) -> Result<()> {
        poll(&self.inner.device, index).inspect_err(|error| self.inner.fault.mark_lost(error.to_string()))
    }
}

/// Waits for a submission. NOTE: wgpu panics where the device is lost while it waits; that is caught here.
pub(super) fn poll(device: &wgpu::Device, index: &wgpu::SubmissionIndex) -> Result<()> {
    let wait = wgpu::PollType::Wait { submission_index: Some(index.clone()), timeout: None };
    match catch_unwind(AssertUnwindSafe(|| device.poll(wait))) {
        // A device that is lost takes no submission, and says so only here: there is nothing with that index.
        Ok(Err(wgpu::PollError::WrongSubmissionIndex(..))) => {
            Err(Error::device("the device was lost before the submission"))
        }
        Ok(polled) => polled.map(|_| ()).map_err(Error::device),
        Err(_) => Err(Error::device("the device was lost while waiting for it")),
    }
}
