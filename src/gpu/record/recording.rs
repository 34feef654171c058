//! A recording: a list of launches and copies as plain data. It is encoded when it is submitted, while no lock is held.

use super::new_launch::NewLaunch;
use super::replay_launches::{Bindings, Launches};
use super::work::{Command, Copy, Groups, Item, Tail};
use crate::gpu::buffers::bound_window::{BoundWindow, WindowUse};
use crate::gpu::buffers::content_state::ContentState;
use crate::gpu::buffers::failures::{Reader, Reason};
use crate::gpu::buffers::outcome::Outcome;
use crate::gpu::buffers::part::Part;
use crate::gpu::buffers::storage::Storage;
use crate::gpu::driver::lock::foreign;
use crate::gpu::driver::progress::QueueProgress;
use crate::gpu::kernels::pipeline::DimsPassing;
use crate::gpu::kernels::ring::{MAX_LAUNCHES, Ring};
use std::ops::Range;
use std::sync::Arc;

/// Launches that are submitted together, and the commands that follow them. None of its commands have been passed to
/// wgpu yet.
pub(in crate::gpu) struct Recording {
    /// Number of the recording. Recordings are submitted in the order of their numbers, which start at 1.
    pub(in crate::gpu) number: u64,
    items: Vec<Item>,
    /// Windows that the items bind, one item after another.
    bound: Vec<BoundWindow>,
    /// The launches' dims, one launch after another.
    dims: Vec<u8>,
    /// The number of launches, those of replays included.
    launches: usize,
    copies: usize,
    /// Predicted seconds of all launches.
    pub(in crate::gpu) seconds: f64,
    /// Queries that the pass writes its timestamps to, if it is timed.
    pub(in crate::gpu) timestamps: Option<wgpu::QuerySet>,
    pub(in crate::gpu) tail: Option<Tail>,
    /// The outcome of the recording, or of its last piece. A reader that waits for the tail gets the submission from
    /// it.
    pub(in crate::gpu) outcome: Arc<Outcome>,
    /// Whether this is a piece of a split recording, with more pieces to follow.
    pub(in crate::gpu) has_more_pieces: bool,
}

impl Recording {
    pub(in crate::gpu) fn new(number: u64) -> Self {
        Self {
            number,
            items: Vec::new(),
            bound: Vec::new(),
            dims: Vec::new(),
            launches: 0,
            copies: 0,
            seconds: 0.0,
            timestamps: None,
            tail: None,
            outcome: Arc::default(),
            has_more_pieces: false,
        }
    }

    /// The empty recording after this one, with room for as many items: programs repeat themselves, and growing the lists took 5%
    /// of a cached product's host time.
    pub(in crate::gpu) fn following(&self) -> Self {
        let items = Vec::with_capacity(self.items.len());
        let bound = Vec::with_capacity(self.bound.len());
        Self { items, bound, dims: Vec::with_capacity(self.dims.len()), ..Self::new(self.number + 1) }
    }

    /// An empty piece of the same recording.
    pub(in crate::gpu) fn piece_of(whole: &Self) -> Self {
        Self { has_more_pieces: whole.has_more_pieces, ..Self::new(whole.number) }
    }

    /// The number of launches, those of replays included.
    pub(in crate::gpu) fn launches(&self) -> usize {
        self.launches
    }

    /// The number of copies between launches.
    pub(in crate::gpu) fn copies(&self) -> usize {
        self.copies
    }

    /// The number of launches, runs of replays and copies.
    pub(in crate::gpu) fn len(&self) -> usize {
        self.items.len()
    }

    /// Appends a launch.
    pub(in crate::gpu) fn push(&mut self, launch: NewLaunch<'_>, sequence: u64) {
        let from = self.dims.len();
        launch.append_dims(&mut self.dims);
        let NewLaunch { pipeline, bound, grid, reports, .. } = launch;
        let bound = self.push_bound(bound, sequence);
        let work = Command::Launch { pipeline, dims: from..self.dims.len(), grid };
        self.items.push(Item { work, bound, sequence, reports });
        self.launches += 1;
    }

    /// Appends a run of a replay, which begins at this sequence.
    pub(in crate::gpu) fn push_replay(
        &mut self,
        launches: &Arc<Launches>,
        bindings: Arc<Bindings>,
        bound: Vec<BoundWindow>,
        (sequence, reports): (u64, u64),
    ) {
        let bound = self.push_bound(bound.into_iter().map(|bound| bound.begun_at(sequence)), sequence);
        self.launches += launches.len();
        let work = Command::Replay { launches: launches.clone(), bindings };
        self.items.push(Item { work, bound, sequence, reports });
    }

    /// Appends a copy that reads and writes these windows.
    pub(in crate::gpu) fn push_copy(
        &mut self,
        copy: Copy,
        bound: impl IntoIterator<Item = BoundWindow>,
        (sequence, reports): (u64, u64),
    ) {
        let bound = self.push_bound(bound, sequence);
        self.copies += 1;
        self.items.push(Item { work: Command::Copy(copy), bound, sequence, reports });
    }

    fn push_bound(&mut self, bound: impl IntoIterator<Item = BoundWindow>, sequence: u64) -> Range<usize> {
        let start = self.bound.len();
        for mut bound in bound {
            let contents = &bound.storage.contents;
            contents.note_use(self.number);
            if let WindowUse::Overwrite { begun } = bound.access {
                contents.note_overwrite(&bound.part, bound.storage.len, begun);
            }
            if bound.access != WindowUse::Read {
                contents.note_write(sequence);
            }
            bound.since = contents.last_whole_write();
            self.bound.push(bound);
        }
        start..self.bound.len()
    }

    /// Reason why the item at `at` cannot run, if one of its inputs was never computed.
    fn missing_input(&self, at: usize) -> Option<Reason> {
        let item = &self.items[at];
        let mut inputs = self.bound[item.bound.clone()].iter().filter(|bound| bound.may_read_before());
        inputs.find_map(|bound| {
            let reader = Reader { sequence: item.sequence, reports: item.reports, since: bound.since };
            bound.storage.contents.failure_before(reader, &bound.part)
        })
    }

    /// The windows that an item writes.
    fn written(&self, item: &Item) -> impl Iterator<Item = &BoundWindow> {
        self.bound[item.bound.clone()].iter().filter(|bound| bound.access != WindowUse::Read)
    }

    /// Marks the outputs of the item at `at` as failed.
    fn fail(&self, at: usize, why: &Reason) {
        let item = &self.items[at];
        self.written(item).for_each(|bound| bound.storage.contents.fail(item.sequence, &bound.part, why));
    }

    /// Marks the outputs of all launches, none of which will ever run, as not written.
    pub(in crate::gpu) fn never_ran(&self, why: &Reason) {
        for item in &self.items {
            self.written(item)
                .for_each(|bound| bound.storage.contents.never_ran(item.sequence, &bound.part, why));
        }
        let _ = self.outcome.set(Err(why.clone()));
    }

    /// Marks the outputs of all launches as failed.
    pub(in crate::gpu) fn fail_all(&self, why: &Reason) {
        (0..self.items.len()).for_each(|at| self.fail(at, why));
        // NOTE: the outcome is already set if another piece has failed before.
        let _ = self.outcome.set(Err(why.clone()));
    }

    /// The windows that the launches bind.
    pub(in crate::gpu) fn bound(&self) -> &[BoundWindow] {
        &self.bound
    }

    /// The storages that the launches use, each once.
    pub(in crate::gpu) fn storages(&self) -> Vec<Arc<Storage>> {
        let mut storages: Vec<_> = self.bound.iter().map(|bound| bound.storage.clone()).collect();
        storages.sort_unstable_by_key(Arc::as_ptr);
        storages.dedup_by(|a, b| Arc::ptr_eq(a, b));
        storages
    }

    /// The contents that the launches write, each with the part and the sequence of the launch.
    pub(in crate::gpu) fn writes(&self) -> Vec<(Arc<ContentState>, Part, u64)> {
        let write = |item: &Item, bound: &BoundWindow| {
            (bound.storage.contents.clone(), bound.part.clone(), item.sequence)
        };
        let writes = |item| self.written(item).map(move |bound| write(item, bound));
        self.items.iter().flat_map(writes).collect()
    }

    /// Name of the first launch, for errors.
    pub(in crate::gpu) fn name(&self) -> &str {
        match self.items.first().map(|item| &item.work) {
            None => "reading a tensor",
            Some(Command::Launch { pipeline, .. }) => &pipeline.name,
            Some(Command::Replay { .. }) => "a replay",
            Some(Command::Copy(copy)) => copy.name(),
        }
    }

    /// Whether it contains at most one item or one copy, so that an error has only one possible cause.
    pub(in crate::gpu) fn is_single(&self) -> bool {
        self.items.len() + usize::from(self.tail.is_some()) <= 1
    }

    /// Splits the recording into pieces, each with one item or only the tail, to identify which of them fails.
    pub(in crate::gpu) fn split(self, why: &Reason) -> Vec<Self> {
        let Self { number, items, bound, dims, tail, outcome, has_more_pieces, .. } = self;
        let piece = || Self { outcome: Arc::default(), has_more_pieces: true, ..Self::new(number) };
        let mut bound = bound.into_iter();
        let mut pieces: Vec<Self> = Vec::with_capacity(items.len() + 1);
        for item in items {
            let own: Vec<BoundWindow> = bound.by_ref().take(item.bound.len()).collect();
            let copies = usize::from(item.is_copy());
            let (work, launches, dims) = match item.work {
                Command::Launch { pipeline, dims: range, grid } => {
                    let dims = dims[range].to_vec();
                    (Command::Launch { pipeline, dims: 0..dims.len(), grid }, 1, dims)
                }
                Command::Replay { launches, bindings } => {
                    let len = launches.len();
                    (Command::Replay { launches, bindings }, len, Vec::new())
                }
                Command::Copy(copy) => (Command::Copy(copy), 0, Vec::new()),
            };
            let Item { sequence, reports, .. } = item;
            let item = Item { work, bound: 0..own.len(), sequence, reports };
            pieces.push(Self { items: vec![item], bound: own, dims, launches, copies, ..piece() });
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
    pub(in crate::gpu) fn needs_ring(&self) -> bool {
        let needs = |item: &Item| matches!(&item.work, Command::Launch { pipeline, .. } if pipeline.dims == DimsPassing::Ring);
        self.items.iter().any(needs)
    }

    /// Encodes all commands, and a copy of the ticket's number to `progress` after them. The dims of kernels that use a
    /// ring are appended to `ring`. A launch whose inputs were never computed is skipped, and its outputs are marked as
    /// failed.
    pub(in crate::gpu) fn encode(
        &self,
        device: &wgpu::Device,
        ring: Option<&mut Ring>,
        progress: &QueueProgress,
        ticket: u64,
    ) -> wgpu::CommandBuffer {
        let desc = wgpu::CommandEncoderDescriptor { label: Some("tilewise recording") };
        let mut encoder = device.create_command_encoder(&desc);
        if !self.items.is_empty() {
            let groups = self.bind(device);
            self.encode_items(&groups, &mut encoder, ring.map_or(&mut [], std::slice::from_mut));
        }
        self.encode_tail(device, &mut encoder);
        progress.encode(&mut encoder, ticket);
        foreign(|| encoder.finish())
    }

    /// The bind groups of the items. An item whose inputs were never computed is skipped, and its outputs are marked as
    /// failed.
    pub(in crate::gpu) fn bind(&self, device: &wgpu::Device) -> Vec<Groups> {
        let groups = |(at, item): (usize, &Item)| {
            if let Some(why) = self.missing_input(at) {
                self.fail(at, &why);
                return Groups::Skipped;
            }
            match &item.work {
                Command::Launch { pipeline, .. } => {
                    let operands = self.bound[item.bound.clone()].iter().map(BoundWindow::resource);
                    Groups::OfLaunch(pipeline.bind(device, operands))
                }
                Command::Replay { .. } | Command::Copy(_) => Groups::NotNeeded,
            }
        };
        self.items.iter().enumerate().map(groups).collect()
    }

    /// Encodes the items that are not skipped: the copies, and one pass for the launches between two copies. The dims of
    /// kernels that use a ring are appended to `rings`, which have room for [`MAX_LAUNCHES`] launches each.
    pub(in crate::gpu) fn encode_items(
        &self,
        groups: &[Groups],
        encoder: &mut wgpu::CommandEncoder,
        rings: &mut [Ring],
    ) {
        let chunks = || self.items.chunk_by(|item, next| !item.is_copy() && !next.is_copy());
        let passes = chunks().filter(|chunk| !chunk[0].is_copy()).count();
        let (mut start, mut pass, mut in_ring) = (0, 0, 0);
        for chunk in chunks() {
            let groups = &groups[start..start + chunk.len()];
            start += chunk.len();
            if let Command::Copy(copy) = &chunk[0].work {
                if !matches!(groups[0], Groups::Skipped) {
                    copy.encode(&self.bound[chunk[0].bound.clone()], encoder);
                }
                continue;
            }
            pass += 1;
            let timestamp_writes =
                self.timestamps.as_ref().map(|query_set| wgpu::ComputePassTimestampWrites {
                    query_set,
                    beginning_of_pass_write_index: (pass == 1).then_some(0),
                    end_of_pass_write_index: (pass == passes).then_some(1),
                });
            let timestamp_writes = timestamp_writes.filter(|_| pass == 1 || pass == passes);
            let desc = wgpu::ComputePassDescriptor { label: Some("tilewise"), timestamp_writes };
            let mut pass = encoder.begin_compute_pass(&desc);
            self.encode_launches((chunk, groups), &mut pass, rings, &mut in_ring);
        }
    }

    /// Encodes launches and replays. `in_ring` counts the launches whose dims are in the rings.
    fn encode_launches(
        &self,
        (items, groups): (&[Item], &[Groups]),
        pass: &mut wgpu::ComputePass<'_>,
        rings: &mut [Ring],
        in_ring: &mut usize,
    ) {
        for (item, groups) in items.iter().zip(groups) {
            match (&item.work, groups) {
                (Command::Launch { pipeline, dims, grid: [x, y, z] }, Groups::OfLaunch(group)) => {
                    pass.set_pipeline(&pipeline.pipeline);
                    pass.set_bind_group(0, group, &[]);
                    let dims = &self.dims[dims.clone()];
                    match (pipeline.dims, rings.get_mut(*in_ring / MAX_LAUNCHES)) {
                        (DimsPassing::Ring, Some(ring)) => {
                            let offset = ring.push(dims);
                            pass.set_bind_group(1, ring.group(), &[offset]);
                            *in_ring += 1;
                        }
                        _ => pass.set_immediates(0, dims),
                    }
                    pass.dispatch_workgroups(*x, *y, *z);
                }
                (Command::Replay { launches, bindings }, Groups::NotNeeded) => {
                    launches.encode(bindings, pass)
                }
                _ => {}
            }
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
