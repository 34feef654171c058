//! A device of the walk, and what all its threads share.

use crate::api;
use crate::held::Held;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tilewise::gpu::Polling;
use tilewise::{Gpu, GpuOptions, wgpu};

/// The memory budget of the device that has little.
pub(crate) const TINY: u64 = 32 << 10;
/// The rings of its staging buffers, which a few writes or reads fill.
pub(crate) const TINY_STAGING: u64 = 1 << 10;
/// The largest binding of the device that has small ones.
pub(crate) const SMALL_BINDING: u64 = 64 << 10;

/// What a thread computes with. Kernels take seconds to compile where many are asked for at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Menu {
    /// f32 alone, in few operations.
    Plain,
    /// Four types, one kernel for each operation.
    Typed,
    /// Functions over any axes, elements moved and indexed, and layers: many operations, of which most take f32.
    Many,
    /// Whatever kernel the plans choose, epilogues, splits, sketches and Clifford products.
    Whole,
}

/// A device that threads walk on.
pub(crate) struct World {
    pub(crate) name: &'static str,
    pub(crate) gpu: Gpu,
    pub(crate) threads: usize,
    pub(crate) menu: Menu,
    pub(crate) budget: Option<u64>,
    pub(crate) polling: Polling,
    /// Whether buffers are destroyed behind the back of tensors: by one thread, which knows what fails.
    pub(crate) is_rough: bool,
    /// Tensors whose buffers are destroyed; at their last drop the pool would hand them out.
    pub(crate) graves: Mutex<Vec<Held>>,
    /// Callbacks that have not run yet.
    pub(crate) callbacks: AtomicUsize,
    /// Whether some thread has failed, so that all others stop.
    pub(crate) stop: Arc<AtomicBool>,
    failures: Mutex<Vec<String>>,
    told: Arc<Mutex<Vec<String>>>,
    _poller: Option<Poller>,
}

/// The application's thread that polls its device.
struct Poller {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl World {
    fn new(name: &'static str, gpu: Gpu, menu: Menu, stop: &Arc<AtomicBool>) -> Self {
        Self {
            name,
            gpu,
            threads: 1,
            menu,
            budget: None,
            polling: Polling::Tilewise,
            is_rough: false,
            graves: Mutex::default(),
            callbacks: AtomicUsize::new(0),
            stop: stop.clone(),
            failures: Mutex::default(),
            told: Arc::default(),
            _poller: None,
        }
    }

    /// Notes what went wrong in a callback, which cannot say it itself.
    pub(crate) fn fail(&self, what: String) {
        lock(&self.failures).push(what);
        self.stop.store(true, Ordering::Release);
    }

    /// What callbacks have noted, and errors of ours that were told to the application.
    pub(crate) fn failures(&self) -> Vec<String> {
        let told = lock(&self.told).iter().map(|error| format!("told to the application: {error}")).collect();
        [lock(&self.failures).clone(), told].concat()
    }
}

impl Drop for Poller {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        // A callback that this very thread runs may be the last to hold the world.
        let thread = self.thread.take().filter(|t| t.thread().id() != std::thread::current().id());
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The devices of the walk; none where there is no adapter.
pub(crate) fn worlds() -> Vec<World> {
    let stop = Arc::new(AtomicBool::new(false));
    let opened = |change: fn(&mut GpuOptions)| support::own(change).map(|gpu| (*gpu).clone());
    let adopted = |name, menu, polling, change: fn(&mut wgpu::DeviceDescriptor)| {
        let application = support::application(change)?;
        let options = GpuOptions::from_env().expect("the environment makes sense");
        let (_, device, _) = &application;
        let told = Arc::new(Mutex::new(Vec::new()));
        let teller = told.clone();
        device.on_uncaptured_error(Arc::new(move |error| lock(&teller).push(error.to_string())));
        let poller = (polling == Polling::Application).then(|| poller(device.clone()));
        let gpu = api::adopt(application, options, polling).expect("the application's device is adopted");
        Some(World { told, polling, _poller: poller, ..World::new(name, gpu, menu, &stop) })
    };
    [
        opened(|_| ()).map(|gpu| World { threads: 2, ..World::new("opened", gpu, Menu::Whole, &stop) }),
        adopted("adopted", Menu::Many, Polling::Application, |_| ()).map(|w| World { threads: 2, ..w }),
        adopted("bare", Menu::Plain, Polling::Tilewise, |desc| {
            desc.required_features = wgpu::Features::empty();
            desc.experimental_features = wgpu::ExperimentalFeatures::disabled();
            desc.required_limits =
                wgpu::Limits { max_storage_buffer_binding_size: SMALL_BINDING, ..wgpu::Limits::default() };
        }),
        opened(|options| (options.memory_budget, options.staging_bytes) = (Some(TINY), Some(TINY_STAGING)))
            .map(|gpu| World { budget: Some(TINY), ..World::new("tiny", gpu, Menu::Plain, &stop) }),
        opened(support::unchecked).map(|gpu| World::new("unchecked", gpu, Menu::Plain, &stop)),
        adopted("rough", Menu::Plain, Polling::Application, |_| ())
            .map(|world| World { is_rough: true, ..world }),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn poller(device: wgpu::Device) -> Poller {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = stop.clone();
    let poll = move || {
        while !asked.load(Ordering::Acquire) {
            device.poll(wgpu::PollType::Poll).expect("the device is there");
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    let thread = std::thread::Builder::new().name("application's poller".into());
    Poller { stop, thread: Some(thread.spawn(poll).expect("a thread starts")) }
}
