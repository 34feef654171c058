//! The application's own device, which the library adopts, and everything that goes wrong on it.

use std::sync::Arc;
use tilewise::gpu::AdoptOptions;
use tilewise::{Error, Gpu, Precision, Result, wgpu};

/// An instance, a device and a queue of the application's own, and the library on them.
pub(crate) struct Application {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) gpu: Gpu,
    /// The `Gpu` that the device-lost callback tells. The callback has a `Weak` of it: it belongs to the device, which the
    /// `Gpu` keeps alive.
    _told: Arc<Gpu>,
}

impl Application {
    /// Opens the adapter's device, with all that the library can use.
    pub(crate) fn open(adapter: &wgpu::Adapter) -> Result<Self> {
        // Every feature that the library's kernels can use. An application adds its own.
        let mut desc = Gpu::device_descriptor(adapter);
        desc.label = Some("wgpu_app");
        let (device, queue) = pollster::block_on(adapter.request_device(&desc)).map_err(failed)?;
        // The library keeps these callbacks in place. Its own errors never arrive here.
        device.on_uncaptured_error(Arc::new(|error| faults::add(&error)));
        let mut options = AdoptOptions::from_env()?;
        options.options.precision = Precision::Strict; // the bounds of `check` are those of strict products
        let gpu = Gpu::adopt_with(adapter, device.clone(), queue.clone(), options)?;
        let told = Arc::new(gpu.clone());
        let lost = Arc::downgrade(&told);
        device.set_device_lost_callback(move |reason, why| {
            if let Some(gpu) = lost.upgrade() {
                gpu.mark_lost(format!("{reason:?}: {why}"));
            }
        });
        Ok(Self { device, queue, gpu, _told: told })
    }

    /// Waits for a submission and runs the callbacks that are due.
    pub(crate) fn wait(&self, submission: wgpu::SubmissionIndex) -> Result<()> {
        let wait = wgpu::PollType::Wait { submission_index: Some(submission), timeout: None };
        self.device.poll(wait).map(drop).map_err(failed)
    }
}

/// The fastest adapter, which can present to this surface, if there is one.
pub(crate) fn adapter(instance: &wgpu::Instance, surface: Option<&wgpu::Surface>) -> Result<wgpu::Adapter> {
    let options = wgpu::RequestAdapterOptions {
        power_preference: wgpu::PowerPreference::HighPerformance,
        compatible_surface: surface,
        ..Default::default()
    };
    pollster::block_on(instance.request_adapter(&options)).map_err(failed)
}

/// The flags of the application's instance: `WGPU_VALIDATION=1` turns Vulkan's validation layer on.
pub(crate) fn flags() -> wgpu::InstanceFlags {
    let mut flags = wgpu::InstanceFlags::from_build_config().with_env();
    if flags.contains(wgpu::InstanceFlags::VALIDATION) {
        // Without `DEBUG`, wgpu loads the layer but forwards none of its messages.
        flags |= wgpu::InstanceFlags::DEBUG;
    }
    flags
}

/// An error of the application's own calls of wgpu.
pub(crate) fn failed(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Device(Box::new(error))
}

/// Faults that no call returns: errors that wgpu reports to the device's handler, and messages that wgpu logs as errors,
/// among them those of the validation layer. One of them fails the run.
pub(crate) mod faults {
    use std::fmt::Display;
    use std::sync::{Mutex, PoisonError};

    static FAULTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

    struct Listener;

    impl log::Log for Listener {
        fn enabled(&self, metadata: &log::Metadata) -> bool {
            metadata.level() == log::Level::Error
        }
        fn log(&self, record: &log::Record) {
            if self.enabled(record.metadata()) {
                add(record.args());
            }
        }
        fn flush(&self) {}
    }

    /// Collects what is logged as an error from now on.
    pub(crate) fn listen() {
        if log::set_logger(&Listener).is_ok() {
            log::set_max_level(log::LevelFilter::Error);
        }
    }

    pub(crate) fn add(what: &dyn Display) {
        eprintln!("fault: {what}");
        FAULTS.lock().unwrap_or_else(PoisonError::into_inner).push(what.to_string());
    }

    pub(crate) fn all() -> Vec<String> {
        FAULTS.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
