//! Devices for tests that run at once. Lavapipe has one thread for each device, which compiles its kernels and runs them: tests
//! that share a device keep one core busy.

use std::cell::OnceCell;
use std::num::NonZeroUsize;
use std::ops::Deref;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use tilewise::{Error, Gpu};

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The first device of the process. If there is no adapter, prints so and returns None, or fails under `GPU_REQUIRED=1`.
fn first() -> Option<&'static Gpu> {
    static FIRST: OnceLock<Option<Gpu>> = OnceLock::new();
    super::watch_validation();
    let open = || match Gpu::open() {
        Ok(gpu) => Some(gpu),
        Err(error @ Error::Unsupported { .. }) => {
            assert!(std::env::var("GPU_REQUIRED").as_deref() != Ok("1"), "GPU_REQUIRED=1, but {error}");
            println!("skipped: no adapter");
            None
        }
        Err(error) => panic!("{error}"),
    };
    FIRST.get_or_init(open).as_ref()
}

/// Whether the driver is software.
pub(super) fn is_software() -> bool {
    first().is_some_and(|gpu| gpu.device().adapter_info().device_type == wgpu::DeviceType::Cpu)
}

/// The number of devices that tests share: what `TILEWISE_TEST_DEVICES` says; else of a software driver one for each core, but few,
/// as each compiles every kernel, and of a GPU, which compiles where it is called, one.
fn count() -> usize {
    let asked = std::env::var("TILEWISE_TEST_DEVICES").ok();
    let asked =
        asked.map(|text| text.parse::<NonZeroUsize>().expect("TILEWISE_TEST_DEVICES is a number above 0"));
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    asked.map_or_else(|| if is_software() { cores().min(4) } else { 1 }, usize::from)
}

/// A device for this thread, the same whenever it asks: the one that the fewest threads have.
pub(super) fn of_this_thread() -> Option<Gpu> {
    struct Shared {
        gpu: Gpu,
        threads: usize,
    }
    static SHARED: Mutex<Vec<Shared>> = Mutex::new(Vec::new());
    /// The place in the list of what a thread has.
    struct Place(usize);
    impl Place {
        fn found() -> Self {
            let mut shared = lock(&SHARED);
            let least = shared.iter().enumerate().min_by_key(|(_, shared)| shared.threads);
            let place = match least.map(|(place, shared)| (place, shared.threads)) {
                Some((place, threads)) if threads == 0 || shared.len() >= count() => place,
                None => {
                    shared.push(Shared { gpu: first().expect("it is open").clone(), threads: 0 });
                    0
                }
                Some(_) => {
                    shared.push(Shared { gpu: Gpu::open().expect("another device opens"), threads: 0 });
                    shared.len() - 1
                }
            };
            shared[place].threads += 1;
            Self(place)
        }
    }
    impl Drop for Place {
        fn drop(&mut self) {
            lock(&SHARED)[self.0].threads -= 1;
        }
    }
    thread_local!(static PLACE: OnceCell<Place> = const { OnceCell::new() });
    first()?;
    let place = PLACE.with(|place| place.get_or_init(Place::found).0);
    Some(lock(&SHARED)[place].gpu.clone())
}

/// What tests use one after the other, such as devices whose counters they read. There are as many as devices that tests share.
pub struct Lanes<T> {
    lanes: Mutex<State<T>>,
    freed: Condvar,
}

struct State<T> {
    free: Vec<T>,
    made: usize,
}

impl<T> Lanes<T> {
    /// None yet.
    pub const fn new() -> Self {
        Self { lanes: Mutex::new(State { free: Vec::new(), made: 0 }), freed: Condvar::new() }
    }

    /// One that no other test has: the last that was given back, else a new one; where there are enough, waits for one.
    pub fn take(&'static self, make: impl FnOnce() -> T) -> Taken<T> {
        let mut lanes = lock(&self.lanes);
        loop {
            if let Some(lane) = lanes.free.pop() {
                return Taken { lanes: self, lane: Some(lane) };
            }
            if lanes.made < count() {
                let lane = make();
                lanes.made += 1;
                return Taken { lanes: self, lane: Some(lane) };
            }
            lanes = self.freed.wait(lanes).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<T> Default for Lanes<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// One of [`Lanes`], while a test has it. When it is given back, the validation layer must have reported nothing.
pub struct Taken<T: 'static> {
    lanes: &'static Lanes<T>,
    lane: Option<T>,
}

impl<T> Deref for Taken<T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.lane.as_ref().expect("it is given back when this is dropped")
    }
}

impl<T> Drop for Taken<T> {
    fn drop(&mut self) {
        lock(&self.lanes.lanes).free.extend(self.lane.take());
        self.lanes.freed.notify_one();
        super::assert_no_complaints();
    }
}

#[cfg(test)]
mod tests {
    use super::super::TestGpu;
    use super::{Lanes, count};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Whether tensors of two devices can be added, as those of one can.
    fn are_added(a: &TestGpu, b: &TestGpu) -> bool {
        let [a, b] = [a, b].map(|gpu| gpu.tensor(&[1.0f32], [1]).expect("it has room"));
        tilewise::ops::add(&a, &b).is_ok()
    }

    #[test]
    fn a_thread_keeps_its_device() {
        let Some(gpu) = crate::gpu() else { return };
        let of_other = || are_added(&crate::gpu().expect("it is open"), &crate::gpu().expect("it is open"));
        assert!(std::thread::scope(|scope| scope.spawn(of_other).join().expect("it ends")));
        assert!(are_added(&gpu, &crate::gpu().expect("it is open")));
    }

    #[test]
    fn what_is_taken_is_nobody_elses_and_comes_back() {
        static LANES: Lanes<usize> = Lanes::new();
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let take = || LANES.take(|| MADE.fetch_add(1, Ordering::Relaxed));
        for _ in 0..3 {
            let taken: Vec<_> = (0..count()).map(|_| take()).collect();
            let mut numbers: Vec<usize> = taken.iter().map(|taken| **taken).collect();
            numbers.sort_unstable();
            assert_eq!(numbers, (0..count()).collect::<Vec<_>>());
        }
        assert_eq!(MADE.load(Ordering::Relaxed), count());
    }
}
