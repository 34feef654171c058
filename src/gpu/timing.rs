//! Seconds on the device's own clock.

use super::{Gpu, lock};
use crate::{Error, Result};

/// How long work took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// Seconds from the start of the first launch to the end of the last.
    pub seconds: f64,
    /// Whose seconds.
    pub clock: Clock,
}

/// A clock that work is timed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The device's timestamps: the launches alone.
    Gpu,
    /// The host's clock around submitting and waiting, where the device has no timestamps.
    Host,
}

impl Gpu {
    /// Times what `work` launches, on an otherwise idle device. Compile and plan first: run it once before.
    ///
    /// Work from other threads that is recorded meanwhile is timed along.
    ///
    /// # Errors
    /// Those of `work`; [`Error::Input`] if it launches nothing; on the device's clock also if it reads, flushes, or
    /// launches 64 kernels or more, which submit by themselves.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn time<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<(R, Timing)> {
        self.wait()?;
        if self.caps().timestamps { self.time_by_timestamps(work) } else { self.time_by_host(work) }
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn time_by_host<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<(R, Timing)> {
        let launches = self.stats().launches;
        let start = std::time::Instant::now();
        let result = work()?;
        self.wait()?;
        if self.stats().launches == launches {
            return Err(Error::input("Gpu::time", "the timed work must launch something"));
        }
        Ok((result, Timing { seconds: start.elapsed().as_secs_f64(), clock: Clock::Host }))
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn time_by_timestamps<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<(R, Timing)> {
        let ticks = self.allocate("time", 16)?;
        let queries = self.inner.device.create_query_set(&wgpu::QuerySetDescriptor {
            label: Some("tilewise timestamps"),
            ty: wgpu::QueryType::Timestamp,
            count: 2,
        });
        let number = {
            let mut recorder = lock(&self.inner.recorder);
            recorder.timestamps = Some(queries.clone());
            recorder.number()
        };
        let result = work();
        let mut recorder = lock(&self.inner.recorder);
        recorder.timestamps = None;
        let result = result?;
        if recorder.number() != number || !recorder.is_open() {
            let why = "the timed work must launch something, and must not be submitted before it ends: \
                       leave reads, flushes and 64 launches or more out of it";
            return Err(Error::input("Gpu::time", why));
        }
        self.submit(&mut recorder, |encoder| self.resolve(encoder, &queries, &ticks))?;
        drop(recorder);
        let ticks: [u64; 2] = self.start_read(&ticks, 0..16)?.wait(bytemuck::pod_read_unaligned)?;
        let period = f64::from(self.inner.queue.get_timestamp_period());
        #[expect(clippy::cast_precision_loss, reason = "nanoseconds of one pass fit in 53 bits")]
        let seconds = ticks[1].wrapping_sub(ticks[0]) as f64 * period * 1e-9;
        Ok((result, Timing { seconds, clock: Clock::Gpu }))
    }

    /// Resolves into a buffer of its own: tensors' buffers lack the usage.
    fn resolve(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        queries: &wgpu::QuerySet,
        ticks: &super::Allocation,
    ) {
        let resolved = self.inner.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("tilewise timestamps"),
            size: 16,
            usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        encoder.resolve_query_set(queries, 0..2, &resolved, 0);
        encoder.copy_buffer_to_buffer(&resolved, 0, ticks.buffer(), 0, 16);
    }
}
