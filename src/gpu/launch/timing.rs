//! Measures the seconds that work takes, on the device's clock if it has one.

use crate::gpu::handle::gpu::Gpu;
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::record::work::Tail;
#[cfg(not(target_arch = "wasm32"))]
use crate::{Error, Result, progress::unreported};

/// The duration of work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// Seconds from the start of the first launch to the end of the last.
    pub seconds: f64,
    /// The clock that measured the seconds.
    pub clock: Clock,
}

/// A clock that measures work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The device's timestamps. They cover the launches only.
    Gpu,
    /// The host's clock, around submitting and waiting. Used if the device has no timestamps.
    Host,
}

impl Gpu {
    /// Measures the time of the launches of `work`, on an otherwise idle device. Run the work once before, so that
    /// planning and compiling are not measured.
    ///
    /// If other threads record work in the meantime, the time includes it. A callback of
    /// [`with_progress`](crate::with_progress) is not called in the meantime.
    ///
    /// # Errors
    /// The errors of `work`; [`Error::Input`] if it launches nothing. On the device's clock also [`Error::Input`] if
    /// other work is being timed on the device, or if the work is submitted before it ends: because it reads, flushes,
    /// launches 64 kernels or more, or uploads 64 MiB or more, or because another thread does so.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn time<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<(R, Timing)> {
        self.check_outside_scope("Gpu::time", "submits and waits")?;
        self.wait()?;
        unreported(|| {
            if self.known_caps().timestamps { self.time_by_timestamps(work) } else { self.time_by_host(work) }
        })
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn time_by_host<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<(R, Timing)> {
        let timed = TimedByHost::begin(self);
        let launches = self.stats().launches;
        let start = std::time::Instant::now();
        let result = work()?;
        self.wait()?;
        drop(timed);
        if self.stats().launches == launches {
            return Err(Error::input("Gpu::time", "the timed work must launch something"));
        }
        Ok((result, Timing { seconds: start.elapsed().as_secs_f64(), clock: Clock::Host }))
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn time_by_timestamps<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<(R, Timing)> {
        let ticks = self.allocate("time", 16)?;
        let queries = self.caught(|| {
            self.inner.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("tilewise timestamps"),
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            })
        })?;
        let timed = TimedRecording::begin(self, &queries)?;
        let result = work()?;
        let mut state = self.inner.recorder.lock();
        if state.open.number != timed.number || state.open.launches() == 0 {
            drop(state);
            let why = "the timed work must launch something, and must not be submitted before it ends: \
                       leave reads, flushes, 64 launches or more and 64 MiB of uploads or more out of it";
            return Err(Error::input("Gpu::time", why));
        }
        ticks.storage().contents.note_use(timed.number);
        let outcome = state.open.outcome.clone();
        let number = state.close(Some(Tail::Timestamps { queries, ticks: ticks.storage().clone() }));
        drop(state);
        drop(timed);
        self.submit_up_to(number)?;
        self.index_of(&outcome)?;
        let ticks: [u64; 2] = self.start_read(&ticks, 0..16)?.wait("time", bytemuck::pod_read_unaligned)?;
        let period = f64::from(self.inner.queue.get_timestamp_period());
        #[expect(clippy::cast_precision_loss, reason = "nanoseconds of one pass fit in 53 bits")]
        let seconds = ticks[1].wrapping_sub(ticks[0]) as f64 * period * 1e-9;
        Ok((result, Timing { seconds, clock: Clock::Gpu }))
    }
}

/// While this exists, nothing is tuned: it would be timed too.
#[cfg(not(target_arch = "wasm32"))]
struct TimedByHost<'a>(&'a Gpu);

#[cfg(not(target_arch = "wasm32"))]
impl<'a> TimedByHost<'a> {
    fn begin(gpu: &'a Gpu) -> Self {
        gpu.inner.recorder.lock().timed_by_host += 1;
        Self(gpu)
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl Drop for TimedByHost<'_> {
    fn drop(&mut self) {
        self.0.inner.recorder.lock().timed_by_host -= 1;
    }
}

/// While this exists, the open recording is timed and is not submitted automatically. Its drop ends that, even after a
/// panic.
#[cfg(not(target_arch = "wasm32"))]
struct TimedRecording<'a> {
    gpu: &'a Gpu,
    number: u64,
}

#[cfg(not(target_arch = "wasm32"))]
impl<'a> TimedRecording<'a> {
    fn begin(gpu: &'a Gpu, queries: &wgpu::QuerySet) -> Result<Self> {
        loop {
            let mut state = gpu.inner.recorder.lock();
            if state.timed {
                return Err(Error::input("Gpu::time", "other work is being timed on this device"));
            }
            // Another thread may have recorded something since the wait: submit that first.
            if state.open.len() == 0 {
                state.timed = true;
                state.open.timestamps = Some(queries.clone());
                return Ok(Self { gpu, number: state.open.number });
            }
            drop(state);
            gpu.submit_all()?;
        }
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl Drop for TimedRecording<'_> {
    fn drop(&mut self) {
        let mut state = self.gpu.inner.recorder.lock();
        state.timed = false;
        let queries = if state.open.number == self.number { state.open.timestamps.take() } else { None };
        drop(state);
        drop(queries);
    }
}
