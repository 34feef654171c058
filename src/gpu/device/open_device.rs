//! Opens the device of an adapter, and builds a [`Gpu`] on a device. Opening and adopting share this code.

use super::adapter::{features_of, spirv_features};
use crate::caps::{Caps, MatrixExtensions, RobustBufferAccess};
use crate::gpu::buffers::constants::Constants;
use crate::gpu::buffers::known_buffers::KnownBuffers;
use crate::gpu::buffers::pool::Pool;
use crate::gpu::buffers::tensor_pool::TensorPool;
use crate::gpu::driver::device_status::DeviceStatus;
use crate::gpu::driver::driver_times::{DriverCall, DriverClock};
use crate::gpu::driver::error_scope::{device_error, in_error_scope};
use crate::gpu::driver::progress::QueueProgress;
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::driver::waiter::Waiter;
use crate::gpu::extensions::{self, MatrixFeatures};
use crate::gpu::handle::gpu::{Gpu, Inner};
use crate::gpu::handle::untested::Untested;
use crate::gpu::kernels::pipelines::Pipelines;
use crate::gpu::kernels::plan_cache::PlanCache;
use crate::gpu::kernels::proofs::Proofs;
use crate::gpu::options::buffer_access::BufferAccess;
use crate::gpu::options::gpu_options::{GpuOptions, Polling};
use crate::gpu::raw;
use crate::gpu::record::plan_capture::PlanCaptures;
use crate::gpu::record::reads::Reads;
use crate::gpu::record::recorder::Recorder;
use crate::gpu::record::uploads::Uploads;
use crate::gpu::rows::known_caps::KnownCaps;
use crate::gpu::rows::verdicts::Verdicts;
use crate::gpu::tuned::tuning_memory::TuningMemory;
use crate::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Maximum bytes of free buffers that are cached for reuse if there is no memory budget.
const MAX_CACHED_BYTES_WITHOUT_BUDGET: u64 = 1 << 30;
/// Divisor of an adopted device's memory that gives the default budget. The rest is left to the application.
const ADOPTED_SHARE: u64 = 2;

impl Gpu {
    /// The device descriptor to open `adapter` with: every feature that a kernel of this crate can use, and the
    /// adapter's own limits. An application may add to both.
    #[must_use]
    pub fn device_descriptor(adapter: &wgpu::Adapter) -> wgpu::DeviceDescriptor<'static> {
        use wgpu::Features as F;
        let useful = F::SHADER_F16
            | F::SHADER_INT64
            | F::SUBGROUP
            | F::EXPERIMENTAL_COOPERATIVE_MATRIX
            | F::IMMEDIATES
            | F::TIMESTAMP_QUERY
            | F::PIPELINE_CACHE
            | spirv_features(adapter.get_info().backend);
        wgpu::DeviceDescriptor {
            label: Some("tilewise"),
            required_features: features_of(adapter) & useful,
            required_limits: adapter.limits(),
            experimental_features: raw::experimental(),
            ..Default::default()
        }
    }
}

/// An open device, before a [`Gpu`] is built on it.
pub(in crate::gpu) struct Device<'a> {
    pub(in crate::gpu) adapter: &'a wgpu::Adapter,
    device: wgpu::Device,
    queue: wgpu::Queue,
    status: Arc<DeviceStatus>,
    pub(in crate::gpu) clock: Arc<DriverClock>,
    robust: RobustBufferAccess,
    #[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "a browser polls by itself"))]
    polling: Polling,
    /// Divisor of the device's memory that gives the memory budget if the options set none.
    share: u64,
    /// See [`Caps::not_enabled`].
    not_enabled: Vec<String>,
    extensions: MatrixExtensions,
}

impl<'a> Device<'a> {
    pub(in crate::gpu) async fn request(
        adapter: &'a wgpu::Adapter,
        access: BufferAccess,
        clock: Arc<DriverClock>,
    ) -> Result<Self> {
        let desc = Gpu::device_descriptor(adapter);
        let timed = clock.start(DriverCall::Device);
        let (device, queue, extensions) = match open_in_vulkan(adapter, &desc, access)? {
            Some(opened) => opened,
            None => {
                let (device, queue) = adapter.request_device(&desc).await.map_err(Error::device)?;
                (device, queue, MatrixExtensions::default())
            }
        };
        drop(timed);
        let (status, robust) = (reported(&device), access.on(adapter.get_info().backend));
        let (polling, not_enabled) = (Polling::Tilewise, Vec::new());
        Ok(Self { adapter, device, queue, status, clock, robust, polling, share: 1, not_enabled, extensions })
    }

    /// A device that wgpu has from an application's Vulkan device. Nobody but this crate has callbacks on it yet.
    #[cfg(any(target_os = "linux", target_os = "windows", target_os = "android"))]
    pub(in crate::gpu) fn of_vulkan(
        adapter: &'a wgpu::Adapter,
        device: wgpu::Device,
        queue: wgpu::Queue,
        polling: Polling,
        access: BufferAccess,
        not_enabled: Vec<String>,
        extensions: MatrixExtensions,
    ) -> Self {
        let (status, robust) = (reported(&device), access.on(wgpu::Backend::Vulkan));
        let (clock, share) = (Arc::default(), ADOPTED_SHARE);
        Self { adapter, device, queue, status, clock, robust, polling, share, not_enabled, extensions }
    }

    pub(in crate::gpu) fn of_application(
        adapter: &'a wgpu::Adapter,
        device: wgpu::Device,
        queue: wgpu::Queue,
        polling: Polling,
        extensions: MatrixExtensions,
    ) -> Self {
        let missing = Gpu::device_descriptor(adapter).required_features - device.features();
        let not_enabled = missing.iter_names().map(|(name, _)| name.to_owned()).collect();
        let (robust, share) = (RobustBufferAccess::Unknown, ADOPTED_SHARE);
        let (status, clock) = (Arc::default(), Arc::default());
        Self { adapter, device, queue, status, clock, robust, polling, share, not_enabled, extensions }
    }

    /// The capabilities of the device. No row has a verdict.
    pub(in crate::gpu) fn caps(&self, options: &GpuOptions) -> Caps {
        let (features, limits) = ((self.device.features(), self.extensions), self.device.limits());
        let caps = Caps::read(self.adapter, features, &limits, self.robust, &options.assume);
        let caps = match options.assume.device_type {
            Some(device_type) => caps.planned_for(device_type),
            None => caps,
        };
        let mut caps = match &options.assume.speed_of {
            Some(adapter) => caps.at_speed_of(adapter),
            None => caps,
        };
        caps.not_enabled.clone_from(&self.not_enabled);
        caps.machine.matrix_order = options.assume.matrix_order.unwrap_or(caps.machine.matrix_order);
        caps
    }

    /// Builds a `Gpu` with capabilities `caps` on this device. `verdicts` are those of earlier runs, if they have been read;
    /// `untested` is for a device whose rows are not tested yet.
    ///
    /// # Errors
    /// [`Error::Device`] if the device is lost.
    pub(in crate::gpu) fn assemble(
        &self,
        caps: Caps,
        verdicts: Option<Verdicts>,
        untested: Option<Untested>,
        options: GpuOptions,
    ) -> Result<Gpu> {
        self.assemble_timed(caps, verdicts, untested, options, self.clock.clone())
    }

    /// The same, with its calls timed by this clock.
    pub(in crate::gpu) fn assemble_timed(
        &self,
        caps: Caps,
        verdicts: Option<Verdicts>,
        untested: Option<Untested>,
        options: GpuOptions,
        clock: Arc<DriverClock>,
    ) -> Result<Gpu> {
        self.status.check()?;
        let budget = options.memory_budget.or(caps.memory.map(|bytes| bytes / self.share));
        let max_cached = budget.map_or(MAX_CACHED_BYTES_WITHOUT_BUDGET, |bytes| bytes / 2);
        let largest = caps.limits.buffer_bytes;
        let tuning = TuningMemory::open(&caps, &self.adapter.get_info(), &options);
        let machine = caps.machine.measured(&tuning.rates());
        let caps = Caps { machine, ..caps };
        let created = in_error_scope(&self.device, || {
            (
                Pipelines::new(&self.device, self.adapter, &options, clock.clone()),
                QueueProgress::new(&self.device),
            )
        });
        let (pipelines, progress) = created.map_err(device_error)?;
        let inner = Inner {
            pipelines,
            progress,
            pool: TensorPool::new(Pool::new(budget, max_cached, largest)),
            reads: Reads::new(options.staging_bytes, largest),
            uploads: Uploads::new(options.staging_bytes, largest),
            recorder: Recorder::new(),
            spares: Arc::default(),
            buffers_created: AtomicU64::new(0),
            known_buffers: KnownBuffers::default(),
            plans: PlanCache::default(),
            tuning,
            constants: Constants::default(),
            captures: PlanCaptures::default(),
            device: self.device.clone(),
            queue: self.queue.clone(),
            caps: KnownCaps::new(caps),
            proofs: Proofs::new(verdicts),
            untested,
            options,
            status: self.status.clone(),
            clock,
            #[cfg(not(target_arch = "wasm32"))]
            waiter: (self.polling == Polling::Tilewise).then(|| Waiter::new(self.status.clone())),
        };
        Ok(Gpu { inner: Arc::new(inner) })
    }
}

/// Opens a device as wgpu cannot: with extensions that it does not know, if the driver has any, or without checks of accesses to
/// buffers. None if wgpu can open it.
///
/// # Errors
/// As [`raw::open`], for a device without these extensions.
fn open_in_vulkan(
    adapter: &wgpu::Adapter,
    desc: &wgpu::DeviceDescriptor<'_>,
    access: BufferAccess,
) -> Result<Option<(wgpu::Device, wgpu::Queue, MatrixExtensions)>> {
    let features = extensions::matrix_features(adapter, desc.required_features);
    let extensions = features.extensions();
    if !extensions.is_empty() {
        match raw::open(adapter, desc, access, features) {
            Ok((device, queue)) => return Ok(Some((device, queue, extensions))),
            Err(error) => {
                let name = adapter.get_info().name;
                log::warn!("{name}: opened without {extensions}, which the driver lists: {error}");
            }
        }
    }
    if access == BufferAccess::default() {
        return Ok(None);
    }
    let (device, queue) = raw::open(adapter, desc, access, MatrixFeatures::default())?;
    Ok(Some((device, queue, MatrixExtensions::default())))
}

/// The status of a device, with callbacks of this crate that report to it.
fn reported(device: &wgpu::Device) -> Arc<DeviceStatus> {
    let status = Arc::new(DeviceStatus::default());
    let reporter = status.clone();
    device.on_uncaptured_error(Arc::new(move |error| reporter.report(&error)));
    let reporter = status.clone();
    device.set_device_lost_callback(move |reason, why| reporter.mark_lost(format!("{reason:?}: {why}")));
    status
}
