//! A recording: a list of launches as plain data. It is encoded when it is submitted, while no lock is held.

use super::content_state::{ContentState, Reason};
use super::lock::foreign;
use super::pipeline::Dims;
use super::pipeline::Pipeline;
use super::progress::Progress;
use super::ring::{MAX_LAUNCHES, Ring};
use super::storage::{Access, Storage};
use crate::plan::Scalar;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Launches that are submitted together, and what follows them. None of its commands have been passed to wgpu yet.
pub(super) struct Recording {
    /// Number of the recording. Recordings are submitted in the order of their numbers, which start at 1.
    pub(super) number: u64,
    launches: Vec<RecordedLaunch>,
    /// Windows that the launches bind, one launch after another.
    bound: Vec<BoundWindow>,
    /// The launches' dims, one launch after another.
    dims: Vec<u8>,
    /// Predicted seconds of all launches.
    pub(super) seconds: f64,
    /// Queries that the pass writes its timestamps to, if it is timed.
    pub(super) timestamps: Option<wgpu::QuerySet>,
    pub(super) tail: Option<Tail>,
    /// The outcome of the recording, or of its last piece. A reader that waits for the tail gets the submission from
    /// it.
    pub(super) outcome: Arc<Outcome>,
    /// Whether this is a piece of a split recording, with more pieces to follow.
    pub(super) has_more_pieces: bool,
}

/// The submission of a recording, or why it failed. It may still be unset after the turn has ended: while the
/// submitting thread is in a callback, only that thread knows the index.
pub(super) type Outcome = OnceLock<Result<wgpu::SubmissionIndex, Reason>>;

/// One launch.
struct RecordedLaunch {
    pipeline: Arc<Pipeline>,
    bound: Range<usize>,
    dims: Range<usize>,
    grid: [u32; 3],
    sequence: u64,
}

/// The dims of a launch, and the scalars to write into them: pairs of a byte offset in `dims` and an index in `values`.
pub(super) struct Uniform<'a> {
    pub(super) dims: &'a [u8],
    pub(super) scalars: &'a [(usize, usize)],
    pub(super) values: &'a [Scalar],
}

/// A window of a storage that a launch binds.
pub(super) struct BoundWindow {
    pub(super) storage: Arc<Storage>,
    pub(super) window: Range<u64>,
    pub(super) access: WindowUse,
    /// Sequence of the last write of the whole storage before the launch.
    since: u64,
}

/// How a launch uses a storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WindowUse {
    /// It reads the storage.
    Read,
    /// It writes to the storage, and may read it.
    Write,
    /// It belongs to an operation that began at this sequence, writes the whole storage, and reads nothing of it.
    Overwrite { begun: u64 },
}

/// The commands after the launches.
pub(super) enum Tail {
    /// A copy of a window to a staging buffer, for the host to read.
    Read { source: Arc<Storage>, window: Range<u64>, staging: wgpu::Buffer },
    /// A copy of the pass's timestamps to a storage.
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
            has_more_pieces: false,
        }
    }

    /// An empty piece of the same recording.
    pub(super) fn piece_of(whole: &Self) -> Self {
        Self { has_more_pieces: whole.has_more_pieces, ..Self::new(whole.number) }
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
            let contents = &bound.storage.contents;
            contents.note_use(self.number);
            if let WindowUse::Overwrite { begun } = bound.access {
                contents.note_whole_write(begun);
            }
            if bound.access != WindowUse::Read {
                contents.note_write(sequence);
            }
            bound.since = contents.last_whole_write();
            self.bound.push(bound);
        }
        let from = self.dims.len();
        self.dims.extend_from_slice(uniform.dims);
        for &(offset, index) in uniform.scalars {
            let at = from + offset;
            self.dims[at..at + 4].copy_from_slice(&uniform.values[index].bits().to_ne_bytes());
        }
        let (bound, dims) = (start..self.bound.len(), from..self.dims.len());
        self.launches.push(RecordedLaunch { pipeline: pipeline.clone(), bound, dims, grid, sequence });
    }

    /// Reason why the launch at `at` cannot run, if one of its inputs was never computed.
    fn missing_input(&self, at: usize) -> Option<Reason> {
        let launch = &self.launches[at];
        let is_input = |bound: &&BoundWindow| !matches!(bound.access, WindowUse::Overwrite { .. });
        let mut inputs = self.bound[launch.bound.clone()].iter().filter(is_input);
        inputs.find_map(|bound| bound.storage.contents.failure_between(bound.since, launch.sequence))
    }

    /// Marks the outputs of the launch at `at` as failed.
    fn fail(&self, at: usize, why: &Reason) {
        let launch = &self.launches[at];
        let written = self.bound[launch.bound.clone()].iter().filter(|bound| bound.access != WindowUse::Read);
        written.for_each(|bound| bound.storage.contents.fail(launch.sequence, why));
    }

    /// Marks the outputs of all launches as failed.
    pub(super) fn fail_all(&self, why: &Reason) {
        (0..self.launches.len()).for_each(|at| self.fail(at, why));
        // NOTE: the outcome is already set if another piece has failed before.
        let _ = self.outcome.set(Err(why.clone()));
    }

    /// The windows that the launches bind.
    pub(super) fn bound(&self) -> &[BoundWindow] {
        &self.bound
    }

    /// The storages that the launches use, each once.
    pub(super) fn storages(&self) -> Vec<Arc<Storage>> {
        let mut storages: Vec<_> = self.bound.iter().map(|bound| bound.storage.clone()).collect();
        storages.sort_unstable_by_key(Arc::as_ptr);
        storages.dedup_by(|a, b| Arc::ptr_eq(a, b));
        storages
    }

    /// The contents that the launches write, each with the sequence of the launch.
    pub(super) fn writes(&self) -> Vec<(Arc<ContentState>, u64)> {
        let writes = |launch: &RecordedLaunch| {
            let (bound, sequence) = (&self.bound[launch.bound.clone()], launch.sequence);
            let written = bound.iter().filter(|bound| bound.access != WindowUse::Read);
            written.map(|bound| (bound.storage.contents.clone(), sequence)).collect::<Vec<_>>()
        };
        self.launches.iter().flat_map(writes).collect()
    }

    /// Name of the first launch, for errors.
    pub(super) fn name(&self) -> &str {
        self.launches.first().map_or("reading a tensor", |launch| &launch.pipeline.name)
    }

    /// Whether it contains at most one launch or one copy, so that an error has only one possible cause.
    pub(super) fn is_single(&self) -> bool {
        self.launches.len() + usize::from(self.tail.is_some()) <= 1
    }

    /// Splits the recording into pieces, each with one launch or only the tail, to identify which of them fails.
    pub(super) fn split(self, why: &Reason) -> Vec<Self> {
        let Self { number, launches, bound, dims, tail, outcome, has_more_pieces, .. } = self;
        let piece = || Self { outcome: Arc::default(), has_more_pieces: true, ..Self::new(number) };
        let mut bound = bound.into_iter();
        let mut pieces: Vec<Self> = Vec::with_capacity(launches.len() + 1);
        for launch in launches {
            let own: Vec<BoundWindow> = bound.by_ref().take(launch.bound.len()).collect();
            let dims = dims[launch.dims.clone()].to_vec();
            let launch = RecordedLaunch { bound: 0..own.len(), dims: 0..dims.len(), ..launch };
            pieces.push(Self { launches: vec![launch], bound: own, dims, ..piece() });
        }
        match tail {
            Some(tail @ Tail::Read { .. }) => {
                pieces.push(Self { tail: Some(tail), outcome, ..piece() });
            }
            // Timestamps of separate launches would not be those of one pass.
            Some(Tail::Timestamps { .. }) => _ = outcome.set(Err(why.clone())),
            // The thread that closed the recording reads the outcome of its last launch.
            None => pieces.last_mut().into_iter().for_each(|last| last.outcome = outcome.clone()),
        }
        if let Some(last) = pieces.last_mut() {
            last.has_more_pieces = has_more_pieces;
        }
        pieces
    }

    /// Whether a kernel of these launches receives its dims through a ring.
    pub(super) fn needs_ring(&self) -> bool {
        self.launches.iter().any(|launch| launch.pipeline.dims == Dims::Ring)
    }

    /// Encodes all commands, and a copy of the ticket's number to `progress` after them. The dims of kernels that use a
    /// ring are appended to `ring`. A launch whose inputs were never computed is skipped, and its outputs are marked as
    /// failed.
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
            let groups = self.bind(device);
            self.encode_pass(&groups, &mut encoder, ring.map_or(&mut [], std::slice::from_mut));
        }
        self.encode_tail(device, &mut encoder);
        progress.encode(&mut encoder, ticket);
        foreign(|| encoder.finish())
    }

    /// The bind groups of the launches. A launch whose inputs were never computed has none, and its outputs are marked
    /// as failed.
    pub(super) fn bind(&self, device: &wgpu::Device) -> Vec<Option<wgpu::BindGroup>> {
        let group = |(at, launch): (usize, &RecordedLaunch)| {
            if let Some(why) = self.missing_input(at) {
                self.fail(at, &why);
                return None;
            }
            let operands = self.bound[launch.bound.clone()].iter().map(BoundWindow::resource);
            Some(launch.pipeline.bind(device, operands))
        };
        self.launches.iter().enumerate().map(group).collect()
    }

    /// Encodes one pass with the launches that have bind groups. The dims of kernels that use a ring are appended to
    /// `rings`, which have room for [`MAX_LAUNCHES`] launches each.
    pub(super) fn encode_pass(
        &self,
        groups: &[Option<wgpu::BindGroup>],
        encoder: &mut wgpu::CommandEncoder,
        rings: &mut [Ring],
    ) {
        let timestamp_writes = self.timestamps.as_ref().map(|query_set| wgpu::ComputePassTimestampWrites {
            query_set,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        });
        let desc = wgpu::ComputePassDescriptor { label: Some("tilewise"), timestamp_writes };
        let mut pass = encoder.begin_compute_pass(&desc);
        for (at, (launch, group)) in self.launches.iter().zip(groups).enumerate() {
            let Some(group) = group else { continue };
            pass.set_pipeline(&launch.pipeline.pipeline);
            pass.set_bind_group(0, group, &[]);
            let dims = &self.dims[launch.dims.clone()];
            match (launch.pipeline.dims, rings.get_mut(at / MAX_LAUNCHES)) {
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
                // The timestamps are resolved into a separate buffer, because tensors' buffers lack the usage flag.
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
    pub(super) fn new(storage: Arc<Storage>, window: Range<u64>, access: WindowUse) -> Self {
        Self { storage, window, access, since: 0 }
    }

    /// How the launch uses the storage, for taken work.
    pub(super) fn taken_access(&self) -> Access {
        if self.access == WindowUse::Read { Access::Reads } else { Access::Writes }
    }

    fn resource(&self) -> wgpu::BindingResource<'_> {
        wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: &self.storage.buffer,
            offset: self.window.start,
            size: std::num::NonZeroU64::new(self.window.end - self.window.start),
        })
    }
}
