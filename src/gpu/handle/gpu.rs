//! [`Gpu`], the handle of a device, the state that its clones share, and the buffers that keep it.

use super::stats::Stats;
use super::untested::Untested;
use crate::caps::Caps;
use crate::gpu::buffers::constants::Constants;
use crate::gpu::buffers::known_buffers::KnownBuffers;
use crate::gpu::buffers::pool::Usage;
use crate::gpu::buffers::pooled_buffer::PooledBuffer;
use crate::gpu::buffers::taken_work::Spares;
use crate::gpu::buffers::tensor_pool::TensorPool;
use crate::gpu::driver::device_status::DeviceStatus;
use crate::gpu::driver::driver_times::{DriverClock, DriverTimes};
use crate::gpu::driver::progress::QueueProgress;
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::driver::waiter::Waiter;
use crate::gpu::kernels::pipelines::Pipelines;
use crate::gpu::kernels::plan_cache::PlanCache;
use crate::gpu::kernels::proofs::Proofs;
use crate::gpu::options::gpu_options::GpuOptions;
use crate::gpu::record::plan_capture::PlanCaptures;
use crate::gpu::record::reads::Reads;
use crate::gpu::record::recorder::Recorder;
use crate::gpu::record::uploads::Uploads;
use crate::gpu::rows::known_caps::KnownCaps;
use crate::gpu::tuned::tuning_memory::TuningMemory;
use crate::layout::Precision;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A device to compute on. Clones are cheap, share all state, and can be used from any thread.
///
/// Operations are recorded, not run: the work is submitted in batches, at the latest when a result is read.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let a = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
/// let c = tilewise::matmul(&a, &a)?; // recorded
/// assert_eq!(c.to_vec()?, [7.0, 10.0, 15.0, 22.0]); // submitted, waited for, read
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Gpu {
    pub(in crate::gpu) inner: Arc<Inner>,
}

/// The state that all clones of a [`Gpu`] share.
pub(in crate::gpu) struct Inner {
    pub(in crate::gpu) device: wgpu::Device,
    pub(in crate::gpu) queue: wgpu::Queue,
    pub(in crate::gpu) caps: KnownCaps,
    pub(in crate::gpu) options: GpuOptions,
    pub(in crate::gpu) status: Arc<DeviceStatus>,
    pub(in crate::gpu) clock: Arc<DriverClock>,
    pub(in crate::gpu) pipelines: Pipelines,
    pub(in crate::gpu) proofs: Proofs,
    /// None if all testable rows of cooperative matrices have been tested.
    pub(in crate::gpu) untested: Option<Untested>,
    pub(in crate::gpu) plans: PlanCache,
    pub(in crate::gpu) tuning: TuningMemory,
    pub(in crate::gpu) constants: Constants,
    pub(in crate::gpu) captures: PlanCaptures,
    pub(in crate::gpu) pool: Arc<TensorPool>,
    pub(in crate::gpu) reads: Reads,
    pub(in crate::gpu) uploads: Uploads,
    pub(in crate::gpu) recorder: Recorder,
    pub(in crate::gpu) spares: Arc<Spares>,
    pub(in crate::gpu) known_buffers: KnownBuffers<Allocation>,
    pub(in crate::gpu) progress: QueueProgress,
    pub(in crate::gpu) buffers_created: AtomicU64,
    /// Polls during asynchronous reads; None if the application polls.
    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::gpu) waiter: Option<Waiter>,
}

/// A buffer, from the pool or of an application, with its device.
pub(crate) struct Allocation {
    // NOTE: declared first, so that the device still exists while the buffer returns to the pool.
    pub(in crate::gpu) pooled: Arc<PooledBuffer>,
    pub(in crate::gpu) gpu: Gpu,
}

impl Gpu {
    /// The device's capabilities, without tests: a row that is not tested yet has no verdict.
    pub(crate) fn known_caps(&self) -> &Caps {
        self.inner.caps.latest()
    }

    /// The default precision of products of f32 operands ([`GpuOptions::precision`]).
    #[must_use]
    pub fn precision(&self) -> Precision {
        self.inner.options.precision
    }

    /// The underlying wgpu device, to share with an application's own work. If it was opened with
    /// [`BufferAccess::unchecked`](crate::gpu::BufferAccess::unchecked), the condition of that function includes every
    /// shader that is created on it.
    ///
    /// Call `destroy` on it only while no other thread is inside a call of this crate: with wgpu 30, threads that upload and
    /// poll can otherwise wait for each other.
    #[must_use]
    pub fn device(&self) -> &wgpu::Device {
        &self.inner.device
    }

    /// The underlying wgpu queue. Work that is submitted to it after [`flush`](Self::flush) runs after this crate's
    /// work.
    #[must_use]
    pub fn queue(&self) -> &wgpu::Queue {
        &self.inner.queue
    }

    /// The current values of the counters.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let state = self.inner.recorder.lock();
        let bytes_left = self.inner.spares.bytes_left.load(Ordering::Relaxed);
        let (counts, bytes_staged) = (state.counts, state.uploads.staged() + bytes_left);
        drop(state);
        let Usage { in_use, cached, peak, available } = self.inner.pool.lock().usage();
        let (reads, uploads) = (self.inner.reads.ring.usage(), self.inner.uploads.ring.usage());
        Stats {
            launches: counts.launches,
            submits: counts.submits,
            bytes_bound_for_reading: counts.bytes_bound_for_reading,
            bytes_bound_for_writing: counts.bytes_bound_for_writing,
            pipelines: self.inner.pipelines.compiled(),
            pipelines_kept: self.inner.pipelines.kept(),
            proofs: self.inner.proofs.launched(),
            plans: self.inner.plans.prepared(),
            buffers_created: self.inner.buffers_created.load(Ordering::Relaxed),
            bytes_in_use: in_use,
            bytes_cached: cached,
            bytes_peak: peak,
            bytes_free: available,
            bytes_staging_cached: reads.free,
            bytes_staged,
            bytes_read_ring: reads.in_use,
            bytes_upload_ring: uploads.in_use,
            bytes_upload_ring_free: uploads.free,
        }
    }

    /// The time that calls of the driver have taken so far, by kind. It shows which calls take the time of a start.
    #[must_use]
    pub fn driver_times(&self) -> DriverTimes {
        self.inner.clock.times()
    }

    /// Reports that the device is lost. Needed for an adopted device, because wgpu notifies only the owner. From then
    /// on every operation returns [`Error::Device`](crate::Error::Device). Another thread wakes the tasks that wait for
    /// a read: wgpu may hold locks of its own while it reports the loss.
    ///
    /// A callback for a lost device holds a [`Weak`](std::sync::Weak), not a `Gpu`: a `Gpu` keeps the device, which keeps
    /// the callback, so none of them would ever be freed.
    pub fn mark_lost(&self, why: impl Into<String>) {
        self.inner.status.mark_lost(why);
    }

    /// Whether both are handles of the same device.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl std::fmt::Debug for Gpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Gpu({}, {})", self.known_caps().adapter, self.known_caps().backend)
    }
}
