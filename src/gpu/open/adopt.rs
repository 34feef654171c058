//! Adopts an application's device.

use super::adopt_check::{self, OP};
use crate::gpu::Gpu;
use crate::gpu::GpuOptions;
use crate::gpu::device::open_device::Device;
use crate::gpu::extensions::vouched::VouchedExtensions;
use crate::gpu::options::buffer_access::BufferAccess;
use crate::gpu::options::gpu_options::Polling;
use crate::{Error, Result};

/// Options to adopt an application's device with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdoptOptions {
    /// The options of [`Gpu::open_with`]. [`GpuOptions::adapter`] is ignored, and
    /// [`BufferAccess::unchecked`] is an error. Without a [`memory_budget`](GpuOptions::memory_budget), tensors take at
    /// most half of the device's memory; the rest is left to the application.
    pub options: GpuOptions,
    /// Who polls the device during an asynchronous read. Ignored in a browser, which polls by itself.
    pub polling: Polling,
    /// Extensions of Vulkan that wgpu does not know and the device was created with. None, unless `unsafe` code sets them
    /// ([`VouchedExtensions::enabled`]).
    pub extensions: VouchedExtensions,
}

impl AdoptOptions {
    /// Reads the options from the environment variables; this crate polls the device.
    ///
    /// # Errors
    /// As [`GpuOptions::from_env`].
    pub fn from_env() -> Result<Self> {
        GpuOptions::from_env().map(Self::from)
    }

    /// Sets [`Polling::Application`]: only the application polls the device.
    #[must_use]
    pub fn polled_by_application(self) -> Self {
        Self { polling: Polling::Application, ..self }
    }
}

impl From<GpuOptions> for AdoptOptions {
    fn from(options: GpuOptions) -> Self {
        Self { options, polling: Polling::default(), extensions: VouchedExtensions::default() }
    }
}

impl Gpu {
    /// Computes on an application's own device, `device`, which was opened from `adapter` and has `queue`. If the device
    /// lacks a feature, [`Gpu::caps`] says so and the plans do without it;
    /// [`Caps::not_enabled`](crate::Caps::not_enabled) names what the adapter has and the device was not opened with.
    /// [`Gpu::device_descriptor`] lists the features to ask for.
    ///
    /// The application's own callbacks on the device stay in place and may call this crate. One rule applies to the
    /// callback for a lost device ([`wgpu::Device::set_device_lost_callback`]): it must call [`Gpu::mark_lost`] before
    /// any other function of this crate, because wgpu holds locks of its own while it runs that callback. From then on
    /// every call returns that error at once. The callback must not keep a `Gpu`, which keeps the device, which keeps the
    /// callback: let it hold a `Weak`.
    ///
    /// This call tests each row of cooperative matrices that no earlier run has tested on this driver: the calling
    /// thread launches the test and polls the device until it is done.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) if an environment variable has an invalid value, or the device was opened
    /// from another adapter or has another queue; [`Error::Unsupported`](crate::Error::Unsupported) or
    /// [`Error::Limit`](crate::Error::Limit) if it was opened without compute shaders, or with limits below those of every
    /// adapter; [`Error::Device`](crate::Error::Device) if it is lost.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn adopt(adapter: &wgpu::Adapter, device: wgpu::Device, queue: wgpu::Queue) -> Result<Self> {
        Self::adopt_with(adapter, device, queue, AdoptOptions::from_env()?)
    }

    /// As [`adopt`](Self::adopt), with these options. The only environment variables that this reads are those of the
    /// user's cache folder ([`CacheFolder::User`](crate::gpu::CacheFolder::User), the default).
    ///
    /// # Errors
    /// As [`adopt`](Self::adopt), but for the environment; also [`Error::Input`](crate::Error::Input) if the options have
    /// [`BufferAccess::unchecked`], because the device is open already, or vouch for extensions that the device was not created
    /// with or whose features its driver lacks.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn adopt_with(
        adapter: &wgpu::Adapter,
        device: wgpu::Device,
        queue: wgpu::Queue,
        options: impl Into<AdoptOptions>,
    ) -> Result<Self> {
        let (device, options) = checked(adapter, device, queue, options.into())?;
        let (caps, verdicts) = device.tested(&options);
        device.assemble(caps, verdicts, None, options)
    }

    /// As [`adopt`](Self::adopt), without blocking.
    ///
    /// # Errors
    /// As [`adopt`](Self::adopt).
    pub async fn adopt_async(
        adapter: &wgpu::Adapter,
        device: wgpu::Device,
        queue: wgpu::Queue,
    ) -> Result<Self> {
        Self::adopt_with_async(adapter, device, queue, AdoptOptions::from_env()?).await
    }

    /// As [`adopt_with`](Self::adopt_with), without blocking. NOTE: with [`Polling::Application`], if rows of
    /// cooperative matrices have to be tested, this completes only if the application polls the device in the meantime.
    ///
    /// # Errors
    /// As [`adopt_with`](Self::adopt_with).
    pub async fn adopt_with_async(
        adapter: &wgpu::Adapter,
        device: wgpu::Device,
        queue: wgpu::Queue,
        options: impl Into<AdoptOptions>,
    ) -> Result<Self> {
        let (device, options) = checked(adapter, device, queue, options.into())?;
        let (caps, verdicts) = device.tested_async(&options).await;
        device.assemble(caps, verdicts, None, options)
    }
}

/// The application's device, if it can be adopted with these options.
fn checked(
    adapter: &wgpu::Adapter,
    device: wgpu::Device,
    queue: wgpu::Queue,
    options: AdoptOptions,
) -> Result<(Device<'_>, GpuOptions)> {
    let AdoptOptions { options, polling, extensions } = options;
    BufferAccess::check_for_adopting(&options)?;
    adopt_check::check(adapter, &device, &queue)?;
    let extensions = extensions.check(OP, adapter, &device)?;
    Ok((Device::of_application(adapter, device, queue, polling, extensions), options))
}

impl BufferAccess {
    /// Checks that the options to adopt a device leave this option alone.
    ///
    /// # Errors
    /// [`Error::Input`] if they do not: the device is open already.
    pub(in crate::gpu) fn check_for_adopting(options: &GpuOptions) -> Result<()> {
        if options.buffer_access.is_unchecked {
            return Err(Error::input(
                "Gpu::adopt: buffer_access",
                "`BufferAccess::unchecked` cannot change how the application has opened its device; it is an option of \
                 `Gpu::open_with`",
            ));
        }
        Ok(())
    }
}
