//! Adopting an application's device.

use super::open::Device;
use super::{Gpu, GpuOptions};
use crate::Result;

/// How to compute on an application's device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdoptOptions {
    /// As of a device that is opened, but for [`GpuOptions::adapter`], which means nothing here. Without a
    /// [`memory_budget`](GpuOptions::memory_budget) tensors take at most half of the device's memory: the rest is the
    /// application's.
    pub options: GpuOptions,
    /// Who polls the device while an asynchronous read waits. A browser does that by itself: it means nothing there.
    pub polling: Polling,
}

/// Who polls an adopted device while something is waited for without blocking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Polling {
    /// A thread of this crate, so that reads complete under any executor. It starts with the first asynchronous read or
    /// self-test, polls only while one is under way, and ends with the last [`Gpu`]. Callbacks of the application's may run
    /// in it; where one waits for a read in there, or several reads are under way, there are up to eight such threads.
    #[default]
    Tilewise,
    /// The application: reads complete when it polls the device or submits to its queue. Blocking calls still poll in the
    /// thread that calls them. A callback that waits for a `read()` in the thread that polls waits for ever, as nobody polls
    /// meanwhile: call `to_vec()` there.
    Application,
}

impl AdoptOptions {
    /// The options that the environment variables set, polled by this crate.
    ///
    /// # Errors
    /// As [`GpuOptions::from_env`].
    pub fn from_env() -> Result<Self> {
        GpuOptions::from_env().map(Self::from)
    }

    /// The same, with the device polled by the application alone.
    #[must_use]
    pub fn polled_by_application(self) -> Self {
        Self { polling: Polling::Application, ..self }
    }
}

impl From<GpuOptions> for AdoptOptions {
    fn from(options: GpuOptions) -> Self {
        Self { options, polling: Polling::default() }
    }
}

impl Gpu {
    /// Computes on an application's own device. Missing features only narrow [`Gpu::caps`]; ask for those that
    /// help with [`Gpu::device_descriptor`]. The device's callbacks stay the application's: tell a loss with
    /// [`Gpu::mark_lost`]. They may call this crate, but for the callback of a lost device
    /// ([`wgpu::Device::set_device_lost_callback`]): wgpu holds locks of its own while it calls that one, so that it may call
    /// `mark_lost` and nothing else.
    ///
    /// Cooperative matrices that no earlier run has tested on this driver are tested here, by a launch that this
    /// thread waits for, polling the device.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) if an environment variable has a value that means nothing;
    /// [`Error::Device`](crate::Error::Device) if the device is lost.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn adopt(adapter: &wgpu::Adapter, device: wgpu::Device, queue: wgpu::Queue) -> Result<Self> {
        Self::adopt_with(adapter, device, queue, AdoptOptions::from_env()?)
    }

    /// As [`adopt`](Self::adopt), with these options; the environment is not looked at.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if the device is lost.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn adopt_with(
        adapter: &wgpu::Adapter,
        device: wgpu::Device,
        queue: wgpu::Queue,
        options: impl Into<AdoptOptions>,
    ) -> Result<Self> {
        let AdoptOptions { options, polling } = options.into();
        let device = Device::of_application(adapter, device, queue, polling);
        let caps = device.verify(&options).wait();
        device.assemble(caps, options)
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

    /// As [`adopt_with`](Self::adopt_with), without blocking. NOTE: where something is to be tested and
    /// [`AdoptOptions::polling`] is the application's, this completes only while the application polls the device.
    ///
    /// # Errors
    /// As [`adopt_with`](Self::adopt_with).
    pub async fn adopt_with_async(
        adapter: &wgpu::Adapter,
        device: wgpu::Device,
        queue: wgpu::Queue,
        options: impl Into<AdoptOptions>,
    ) -> Result<Self> {
        let AdoptOptions { options, polling } = options.into();
        let device = Device::of_application(adapter, device, queue, polling);
        let caps = device.verify(&options).wait_async().await;
        device.assemble(caps, options)
    }
}
