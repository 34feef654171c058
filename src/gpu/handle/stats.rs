//! The counters of a `Gpu`.

/// Counters of one [`Gpu`](crate::Gpu), shared by its clones. With them, tests and applications check how much work a
/// call causes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Kernel launches recorded.
    pub launches: u64,
    /// Submissions of recorded work to the queue. Submissions that only ask the device for its progress do not count.
    pub submits: u64,
    /// Bytes of the windows that launches bound for reading.
    pub bytes_bound_for_reading: u64,
    /// Bytes of the windows that launches bound for writing.
    pub bytes_bound_for_writing: u64,
    /// Pipelines compiled.
    pub pipelines: u64,
    /// Compiled pipelines that are kept for later launches, those that replays and work under way use included: at most
    /// [`GpuOptions::max_pipelines`](crate::GpuOptions::max_pipelines), unless more are in use. [`Gpu::trim`](crate::Gpu::trim)
    /// frees those that are not in use.
    pub pipelines_kept: u64,
    /// Launches that asked a new pipeline for its subgroup size, each in a submission of its own. Only on devices with
    /// several sizes, for kernels on cooperative matrices. They do not count as `launches` and `submits`.
    pub proofs: u64,
    /// Plans that were prepared: one for each new problem.
    pub plans: u64,
    /// Buffers created for tensors. Reuse of a pooled buffer does not count.
    pub buffers_created: u64,
    /// Bytes of buffers that tensors use now.
    pub bytes_in_use: u64,
    /// Bytes of free buffers that are cached in the pool: at most half of the budget, or 1 GiB without one.
    /// [`Gpu::trim`](crate::Gpu::trim) frees them.
    pub bytes_cached: u64,
    /// Maximum of `bytes_in_use` since the device was opened, or since the last
    /// [`Gpu::reset_peak`](crate::Gpu::reset_peak).
    pub bytes_peak: u64,
    /// Unused bytes of the memory budget; None without a budget.
    pub bytes_free: Option<u64>,
    /// Bytes of staging buffers of reads that are under way, or whose values nobody has taken yet. Together with
    /// `bytes_staging_cached` at most [`GpuOptions::staging_bytes`](crate::GpuOptions::staging_bytes), apart from reads that
    /// create a buffer outside the ring.
    pub bytes_read_ring: u64,
    /// Bytes of staging buffers that are cached for later reads.
    pub bytes_staging_cached: u64,
    /// Bytes uploaded since the last submission, which wait in host memory for the next one. Always less than 64 MiB,
    /// because uploads of that many bytes are submitted at once. In addition, at most twice as many submitted bytes are
    /// under way, or two larger uploads.
    pub bytes_staged: u64,
    /// Bytes of staging buffers of staged writes ([`Tensor::write_from`](crate::Tensor::write_from),
    /// [`Gpu::upload_async`](crate::Gpu::upload_async)) that the host fills, or that the device may not have copied yet. Together
    /// with `bytes_upload_ring_free` at most [`GpuOptions::staging_bytes`](crate::GpuOptions::staging_bytes), apart from writes
    /// that create a buffer outside the ring.
    pub bytes_upload_ring: u64,
    /// Bytes of free staging buffers for staged writes. [`Gpu::trim`](crate::Gpu::trim) frees them.
    pub bytes_upload_ring_free: u64,
}
