//! What a `Gpu` counts, so that claims about it can be asserted.

/// Counters of one [`Gpu`](crate::Gpu), shared by its clones: what tests and applications assert claims with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Kernel launches recorded.
    pub launches: u64,
    /// Submissions of recorded work to the queue. Those that only ask the device what it has run do not count.
    pub submits: u64,
    /// Bytes of the windows that launches bound for reading.
    pub bytes_bound_for_reading: u64,
    /// Bytes of the windows that launches bound for writing.
    pub bytes_bound_for_writing: u64,
    /// Pipelines compiled.
    pub pipelines: u64,
    /// Plans made and prepared: one for each problem that was not seen before.
    pub plans: u64,
    /// Buffers created for tensors; reuse of a pooled one does not count.
    pub buffers_created: u64,
    /// Bytes of buffers that tensors hold now.
    pub bytes_in_use: u64,
    /// Bytes of buffers that wait in the pool for reuse: at most half of the budget, or 1 GiB without one.
    /// [`Gpu::trim`](crate::Gpu::trim) frees them.
    pub bytes_cached: u64,
    /// The most bytes that were in use at one time since the start, or the last [`Gpu::reset_peak`](crate::Gpu::reset_peak).
    pub bytes_peak: u64,
    /// Bytes of the memory budget that are not in use; None without a budget.
    pub bytes_free: Option<u64>,
    /// Bytes of staging buffers that wait for the next read: at most 64 MiB.
    pub bytes_staging_cached: u64,
    /// Bytes that were uploaded since the last submission and wait in host memory for the next: less than 64 MiB, as so many are
    /// submitted by themselves. Of those that are submitted twice as many are under way at most, or two larger uploads.
    pub bytes_staged: u64,
}
