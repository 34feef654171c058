//! The compiled kernels that are kept for later launches. Their number is bounded; the least recently used are dropped
//! first.

use super::pipeline::Pipeline;
use crate::gpu::driver::lock::Lock;
use crate::kernel::Kernel;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Pipelines by kernel.
///
/// Otherwise only the users of a pipeline keep it: recordings that are not submitted, commands that an application holds, and
/// replays. Plans refer to it weakly. So if nothing uses a pipeline, this map has the only reference to it, and it may be
/// dropped.
pub(in crate::gpu) struct KnownPipelines {
    known: Lock<PipelineTable>,
    limit: usize,
    /// Sequence of the last launch.
    clock: AtomicU64,
}

#[derive(Default)]
struct PipelineTable {
    /// Each with the number of pipelines that were kept before it.
    by_kernel: HashMap<Kernel, (Arc<Pipeline>, u64)>,
    inserted: u64,
}

impl KnownPipelines {
    /// Keeps at most `limit` pipelines.
    pub(in crate::gpu) fn new(limit: usize) -> Self {
        Self { known: Lock::default(), limit, clock: AtomicU64::new(0) }
    }

    pub(in crate::gpu) fn len(&self) -> usize {
        self.known.lock().by_kernel.len()
    }

    /// A launch of this pipeline is recorded at this sequence. NOTE: two stores, because every launch comes here. The caller
    /// holds the lock of the recorder, whose clock this is.
    pub(in crate::gpu) fn note_use(&self, pipeline: &Pipeline, sequence: u64) {
        self.clock.store(sequence, Ordering::Relaxed);
        pipeline.last_use.store(sequence, Ordering::Relaxed);
    }

    pub(in crate::gpu) fn get(&self, kernel: &Kernel) -> Option<Arc<Pipeline>> {
        self.known.lock().by_kernel.get(kernel).map(|(pipeline, _)| pipeline.clone())
    }

    /// Keeps a pipeline, unless another thread has compiled the same kernel meanwhile. Returns the one that is kept, and those
    /// that made room: the caller must drop them while it holds no lock.
    pub(in crate::gpu) fn insert(
        &self,
        kernel: &Kernel,
        compiled: Arc<Pipeline>,
    ) -> (Arc<Pipeline>, Vec<Arc<Pipeline>>) {
        // It counts as used now.
        compiled.last_use.store(self.clock.load(Ordering::Relaxed), Ordering::Relaxed);
        let mut known = self.known.lock();
        known.inserted += 1;
        let number = known.inserted;
        let kept = known.by_kernel.entry(kernel.clone()).or_insert((compiled, number)).0.clone();
        let evicted = known.shrink(self.limit);
        drop(known);
        (kept, evicted)
    }

    /// Removes all pipelines that nothing uses now. Returns them: the caller must drop them while it holds no lock.
    pub(in crate::gpu) fn forget_unused(&self) -> Vec<Arc<Pipeline>> {
        self.known.lock().shrink(0)
    }
}

impl PipelineTable {
    /// Removes the least recently used pipelines that are not in use, until there are at most `limit`.
    fn shrink(&mut self, limit: usize) -> Vec<Arc<Pipeline>> {
        let excess = self.by_kernel.len().saturating_sub(limit);
        if excess == 0 {
            return Vec::new();
        }
        let is_unused = |pipeline: &Arc<Pipeline>| Arc::strong_count(pipeline) == 1;
        let unused = self.by_kernel.values().filter(|(pipeline, _)| is_unused(pipeline));
        let mut ages: Vec<_> = unused.map(age).collect();
        ages.sort_unstable();
        ages.truncate(excess);
        let Some(&youngest) = ages.last() else { return Vec::new() };
        let mut evicted = Vec::new();
        self.by_kernel.retain(|_, one| {
            let leaves = is_unused(&one.0) && age(one) <= youngest;
            if leaves {
                evicted.push(one.0.clone());
            }
            !leaves
        });
        evicted
    }
}

/// When a pipeline was used last, and among those of one time, which came first.
fn age((pipeline, number): &(Arc<Pipeline>, u64)) -> (u64, u64) {
    (pipeline.last_use.load(Ordering::Relaxed), *number)
}
