//! A recording: a list of launches as data. It is encoded when it is submitted, while no lock is held.

use super::lock::foreign;
use super::mark::Why;
use super::pipeline::Dims;
use super::pipeline::Pipeline;
use super::progress::Progress;
use super::ring::Ring;
use super::storage::Storage;
use crate::plan::Scalar;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Launches that are submitted together, and what follows them. No command of it has been given to wgpu yet.
pub(super) struct Recording {
    /// Recordings are submitted in the order of their numbers, which count from 1.
    pub(super) number: u64,
    launches: Vec<Launch>,
    /// What the launches bind, one launch after another.
    bound: Vec<BoundWindow>,
    /// The launches' dims, one launch after another.
    dims: Vec<u8>,
    /// Predicted seconds of all launches.
    pub(super) seconds: f64,
    /// The queries that the pass writes its timestamps to, if it is timed.
    pub(super) timestamps: Option<wgpu::QuerySet>,
    pub(super) tail: Option<Tail>,
    /// The outcome of the recording, or of its last piece: for a reader that waits for the tail.
    pub(super) outcome: Arc<Outcome>,
    /// Whether this is a piece of a split recording, and more pieces follow.
    pub(super) goes_on: bool,
}

/// The submission of a recording, or why it failed. It may be unset after the turn has ended: while the thread that submitted
/// is still in a callback, only that thread knows the index.
pub(super) type Outcome = OnceLock<Result<wgpu::SubmissionIndex, Why>>;

/// One launch.
struct Launch {
    pipeline: Arc<Pipeline>,
    bound: Range<usize>,
    dims: Range<usize>,
    grid: [u32; 3],
    sequence: u64,
}

/// The uniform of a launch: its dims, in which some values lie at these offsets, by index.
pub(super) struct Uniform<'a> {
    pub(super) dims: &'a [u8],
    pub(super) scalars: &'a [(usize, usize)],
    pub(super) values: &'a [Scalar],
}

/// A window of a storage that a launch binds.
pub(super) struct BoundWindow {
    pub(super) storage: Arc<Storage>,
    pub(super) window: Range<u64>,
    pub(super) access: Use,
    /// The sequence at which the storage was last written as a whole before the launch.
    since: u64,
}

/// What a launch does with a storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It reads.
    Read,
    /// It writes, and may read.
    Write,
    /// It is a launch of an operation that began at this sequence, writes the whole storage, and reads nothing of it.
    Overwrite { begun: u64 },
}

/// What follows the launches.
pub(super) enum Tail {
    /// A copy of a window to a staging buffer, for the host to read.
    Read { source: Arc<Storage>, window: Range<u64>, staging: wgpu::Buffer },
    /// The pass's timestamps, copied to a storage.
    #[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "timing waits, which a browser forbids"))]
    Timestamps { queries: wgpu::QuerySet, ticks: Arc<Storage> },
}

impl Recording {
    pub(super) fn new(number: u64) -> Self {
        Self {
            number,
            launches: Vec::new(),
            bound: Vec::new(),
            dims: Vec::new(),
            seconds: 0.0,
            timestamps: None,
            tail: None,
            outcome: Arc::default(),
            goes_on: false,
        }
    }

    /// An empty piece of the same recording.
    pub(super) fn piece_of(whole: &Self) -> Self {
        Self { goes_on: whole.goes_on, ..Self::new(whole.number) }
    }

    /// The number of launches.
    pub(super) fn len(&self) -> usize {
        self.launches.len()
    }

    /// Appends a launch.
    pub(super) fn push(
        &mut self,
        pipeline: &Arc<Pipeline>,
        bound: Vec<BoundWindow>,
        uniform: &Uniform<'_>,
        grid: [u32; 3],
        sequence: u64,
    ) {
        let start = self.bound.len();
        for mut bound in bound {
            let mark = &bound.storage.mark;
            mark.used_by(self.number);
            if let Use::Overwrite { begun } = bound.access {
                mark.written_whole(begun);
            }
            if bound.access != Use::Read {
                mark.written(sequence);
            }
            bound.since = mark.last_whole_write();
            self.bound.push(bound);
        }
        let from = self.dims.len();
        self.dims.extend_from_slice(uniform.dims);
        for &(offset, index) in uniform.scalars {
            let at = from + offset;
            self.dims[at..at + 4].copy_from_slice(&uniform.values[index].bits().to_ne_bytes());
        }
        let (bound, dims) = (start..self.bound.len(), from..self.dims.len());
        self.launches.push(Launch { pipeline: pipeline.clone(), bound, dims, grid, sequence });
    }

    /// Why the launch at `at` cannot run, if one of its inputs was never computed.
    fn missing_input(&self, at: usize) -> Option<Why> {
        let launch = &self.launches[at];
        let is_input = |bound: &&BoundWindow| !matches!(bound.access, Use::Overwrite { .. });
        let mut inputs = self.bound[launch.bound.clone()].iter().filter(is_input);
        inputs.find_map(|bound| bound.storage.mark.failure_between(bound.since, launch.sequence))
    }

    /// Marks as failed what the launch at `at` should have written.
    fn fail(&self, at: usize, why: &Why) {
        let launch = &self.launches[at];
        let written = self.bound[launch.bound.clone()].iter().filter(|bound| bound.access != Use::Read);
        written.for_each(|bound| bound.storage.mark.fail(launch.sequence, why));
    }

    /// Marks as failed everything that the launches should have written.
    pub(super) fn fail_all(&self, why: &Why) {
        (0..self.launches.len()).for_each(|at| self.fail(at, why));
        // NOTE: set already where another piece has failed before.
        let _ = self.outcome.set(Err(why.clone()));
    }

    /// The first launch's name, for errors.
    pub(super) fn name(&self) -> &str {
        self.launches.first().map_or("reading a tensor", |launch| &launch.pipeline.name)
    }

    /// Whether it has one launch or one copy at most, so that an error is due to that.
    pub(super) fn is_single(&self) -> bool {
        self.launches.len() + usize::from(self.tail.is_some()) <= 1
    }

    /// The same work in pieces, each of one launch or only the tail, to find out which of them fails.
    pub(super) fn split(self, why: &Why) -> Vec<Self> {
        let Self { number, launches, bound, dims, tail, outcome, goes_on, .. } = self;
        let piece = || Self { outcome: Arc::default(), goes_on: true, ..Self::new(number) };
        let mut bound = bound.into_iter();
        let mut pieces: Vec<Self> = Vec::with_capacity(launches.len() + 1);
        for launch in launches {
            let own: Vec<BoundWindow> = bound.by_ref().take(launch.bound.len()).collect();
            let dims = dims[launch.dims.clone()].to_vec();
            let launch = Launch { bound: 0..own.len(), dims: 0..dims.len(), ..launch };
            pieces.push(Self { launches: vec![launch], bound: own, dims, ..piece() });
        }
        match tail {
            Some(tail @ Tail::Read { .. }) => {
                pieces.push(Self { tail: Some(tail), outcome, ..piece() });
            }
            // Timestamps of launches one by one are not those of a pass.
            Some(Tail::Timestamps { .. }) => _ = outcome.set(Err(why.clone())),
            // Who closed the recording asks for its last launch.
            None => pieces.last_mut().into_iter().for_each(|last| last.outcome = outcome.clone()),
        }
        if let Some(last) = pieces.last_mut() {
            last.goes_on = goes_on;
        }
        pieces
    }

    /// Whether a kernel of these launches gets its dims from a ring.
    pub(super) fn needs_ring(&self) -> bool {
        self.launches.iter().any(|launch| launch.pipeline.dims == Dims::Ring)
    }

    /// Commands for all of it; behind them, a copy of the ticket's number to `progress`. The dims of kernels that read them
    /// from a ring are put into `ring`. Launches whose inputs were never computed are left out, and what they should have
    /// written is marked.
    pub(super) fn encode(
        &self,
        device: &wgpu::Device,
        ring: Option<&mut Ring>,
        progress: &Progress,
        ticket: u64,
    ) -> wgpu::CommandBuffer {
        let desc = wgpu::CommandEncoderDescriptor { label: Some("tilewise recording") };
        let mut encoder = device.create_command_encoder(&desc);
        if !self.launches.is_empty() {
            self.encode_pass(device, &mut encoder, ring);
        }
        self.encode_tail(device, &mut encoder);
        progress.encode(&mut encoder, ticket);
        foreign(|| encoder.finish())
    }

    fn encode_pass(
        &self,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        mut ring: Option<&mut Ring>,
    ) {
        let timestamp_writes = self.timestamps.as_ref().map(|query_set| wgpu::ComputePassTimestampWrites {
            query_set,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        });
        let desc = wgpu::ComputePassDescriptor { label: Some("tilewise"), timestamp_writes };
        let mut pass = encoder.begin_compute_pass(&desc);
        for (at, launch) in self.launches.iter().enumerate() {
            if let Some(why) = self.missing_input(at) {
                self.fail(at, &why);
                continue;
            }
            let operands = self.bound[launch.bound.clone()].iter().map(BoundWindow::resource);
            let group = launch.pipeline.bind(device, operands);
            pass.set_pipeline(&launch.pipeline.pipeline);
            pass.set_bind_group(0, &group, &[]);
            let dims = &self.dims[launch.dims.clone()];
            match (launch.pipeline.dims, ring.as_deref_mut()) {
                (Dims::Ring, Some(ring)) => {
                    let offset = ring.push(dims);
                    pass.set_bind_group(1, ring.group(), &[offset]);
                }
                _ => pass.set_immediates(0, dims),
            }
            let [x, y, z] = launch.grid;
            pass.dispatch_workgroups(x, y, z);
        }
    }

    fn encode_tail(&self, device: &wgpu::Device, encoder: &mut wgpu::CommandEncoder) {
        match &self.tail {
            Some(Tail::Read { source, window, staging }) => {
                let size = window.end - window.start;
                encoder.copy_buffer_to_buffer(&source.buffer, window.start, staging, 0, size);
            }
            Some(Tail::Timestamps { queries, ticks }) => {
                // Resolved into a buffer of its own: tensors' buffers lack the usage.
                let resolved = device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("tilewise timestamps"),
                    size: 16,
                    usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                    mapped_at_creation: false,
                });
                encoder.resolve_query_set(queries, 0..2, &resolved, 0);
                encoder.copy_buffer_to_buffer(&resolved, 0, &ticks.buffer, 0, 16);
            }
            None => {}
        }
    }
}

impl BoundWindow {
    pub(super) fn new(storage: Arc<Storage>, window: Range<u64>, access: Use) -> Self {
        Self { storage, window, access, since: 0 }
    }

    fn resource(&self) -> wgpu::BindingResource<'_> {
        wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: &self.storage.buffer,
            offset: self.window.start,
            size: std::num::NonZeroU64::new(self.window.end - self.window.start),
        })
    }
}
