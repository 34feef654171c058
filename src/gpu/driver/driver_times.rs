//! The time that calls of the driver take, summed by kind. Sums are always on: a timed call takes at least microseconds, and
//! reading the clock twice takes some 50 ns.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Time that a [`Gpu`](crate::Gpu)'s calls of wgpu, and through it of the driver, have taken since the device was asked for
/// ([`Gpu::driver_times`](crate::Gpu::driver_times)). All are 0 in a browser.
///
/// Calls that several threads make at the same time count each, as do calls that a callback makes inside another one. Buffers, bind
/// groups and command encoders are not timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DriverTimes {
    /// Creating the instance, which loads the drivers. Nearly 0 for all but the first device of a process, which keeps the instance,
    /// and 0 for an adopted device.
    pub instance: Duration,
    /// Listing the adapters. 0 for an adopted device.
    pub adapters: Duration,
    /// Opening the device. 0 for an adopted device.
    pub device: Duration,
    /// Self-tests of cooperative matrices, with all their calls.
    pub self_tests: Duration,
    /// Parsing and validating shaders.
    pub modules: Duration,
    /// Creating pipelines: writing SPIR-V, and the driver's compiler. Some drivers compile later, at the first launch, which is then
    /// part of `waits`.
    pub pipelines: Duration,
    /// Submitting to the queue.
    pub submits: Duration,
    /// Waiting for the device.
    pub waits: Duration,
}

impl DriverTimes {
    /// The sum of all kinds.
    #[must_use]
    pub fn total(&self) -> Duration {
        let Self { instance, adapters, device, self_tests, modules, pipelines, submits, waits } = *self;
        instance + adapters + device + self_tests + modules + pipelines + submits + waits
    }
}

/// A kind of call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gpu) enum DriverCall {
    Instance,
    Adapters,
    Device,
    SelfTests,
    Modules,
    Pipelines,
    Submits,
    Waits,
}

/// The sums so far, in nanoseconds by kind.
#[derive(Default)]
pub(in crate::gpu) struct DriverClock {
    nanos: [AtomicU64; DriverCall::Waits as usize + 1],
}

impl DriverClock {
    /// Makes a call, and adds its time.
    pub(in crate::gpu) fn time<R>(&self, call: DriverCall, work: impl FnOnce() -> R) -> R {
        let _timed = self.start(call);
        work()
    }

    /// Adds the time until the returned value is dropped.
    pub(in crate::gpu) fn start(&self, call: DriverCall) -> TimedCall<'_> {
        // NOTE: a browser's clock is not in the standard library, which panics there.
        #[cfg(target_arch = "wasm32")]
        let _ = call;
        TimedCall {
            #[cfg(not(target_arch = "wasm32"))]
            nanos: &self.nanos[call as usize],
            #[cfg(not(target_arch = "wasm32"))]
            begun: std::time::Instant::now(),
            #[cfg(target_arch = "wasm32")]
            clock: std::marker::PhantomData,
        }
    }

    pub(in crate::gpu) fn times(&self) -> DriverTimes {
        let of = |call: DriverCall| Duration::from_nanos(self.nanos[call as usize].load(Ordering::Relaxed));
        DriverTimes {
            instance: of(DriverCall::Instance),
            adapters: of(DriverCall::Adapters),
            device: of(DriverCall::Device),
            self_tests: of(DriverCall::SelfTests),
            modules: of(DriverCall::Modules),
            pipelines: of(DriverCall::Pipelines),
            submits: of(DriverCall::Submits),
            waits: of(DriverCall::Waits),
        }
    }
}

/// A call that is under way. Its drop adds the time, even if a callback panics.
pub(in crate::gpu) struct TimedCall<'a> {
    #[cfg(not(target_arch = "wasm32"))]
    nanos: &'a AtomicU64,
    #[cfg(not(target_arch = "wasm32"))]
    begun: std::time::Instant,
    #[cfg(target_arch = "wasm32")]
    clock: std::marker::PhantomData<&'a DriverClock>,
}

#[cfg(not(target_arch = "wasm32"))]
impl Drop for TimedCall<'_> {
    fn drop(&mut self) {
        let nanos = u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.nanos.fetch_add(nanos, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::{DriverCall, DriverClock};
    use std::time::Duration;

    #[test]
    fn calls_are_summed_by_kind() {
        let clock = DriverClock::default();
        let pause = || std::thread::sleep(Duration::from_millis(2));
        clock.time(DriverCall::Modules, pause);
        clock.time(DriverCall::Waits, pause);
        clock.time(DriverCall::Waits, pause);
        let times = clock.times();
        assert!(
            times.modules >= Duration::from_millis(2) && times.waits >= Duration::from_millis(4),
            "{times:?}"
        );
        assert_eq!(times.total(), times.modules + times.waits);
    }

    #[test]
    fn a_call_that_panics_counts() {
        let clock = DriverClock::default();
        let call = || clock.time(DriverCall::Submits, || panic!("the panic under test"));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).is_err());
        assert!(clock.times().submits > Duration::ZERO);
    }
}
