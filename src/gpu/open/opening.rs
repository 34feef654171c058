//! Opens devices.

use crate::caps::DeviceType;
use crate::gpu::device::open_device::Device;
use crate::gpu::driver::driver_times::{DriverCall, DriverClock};
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::driver::instance::keep;
use crate::gpu::driver::instance::{BACKENDS, flags, instance};
use crate::gpu::handle::gpu::Gpu;
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::handle::untested::Untested;
use crate::gpu::options::buffer_access::BufferAccess;
use crate::gpu::options::gpu_options::{AdapterChoice, Checks, GpuOptions};
use crate::{Error, Result};
use std::sync::Arc;

impl Gpu {
    /// Opens the fastest device, or the one that the environment selects ([`GpuOptions::from_env`]).
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the machine has no adapter; [`Error::Input`] if an environment variable has an invalid
    /// value or selects an adapter that does not exist; [`Error::Device`] if the driver refuses to open the device.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn open() -> Result<Self> {
        Self::open_with(GpuOptions::from_env()?)
    }

    /// Opens a device with these options. The only environment variables that this reads are those of the user's cache
    /// folder ([`CacheFolder::User`](crate::gpu::CacheFolder::User), the default) and wgpu's own, such as
    /// `WGPU_VALIDATION`.
    ///
    /// # Errors
    /// As [`open`](Self::open). With [`BufferAccess::unchecked`]: [`Error::Input`] if
    /// [`Checks::Checked`](crate::gpu::Checks::Checked) is set too, and [`Error::Unsupported`] if the adapter's API is
    /// not Vulkan.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn open_with(options: GpuOptions) -> Result<Self> {
        pollster::block_on(Self::open_with_async(options))
    }

    /// As [`open`](Self::open), without blocking.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub async fn open_async() -> Result<Self> {
        Self::open_with_async(GpuOptions::from_env()?).await
    }

    /// As [`open_with`](Self::open_with), without blocking.
    ///
    /// # Errors
    /// As [`open_with`](Self::open_with).
    pub async fn open_with_async(options: GpuOptions) -> Result<Self> {
        let access = BufferAccess::for_opening(&options)?;
        let clock = Arc::new(DriverClock::default());
        let adapter = choose(&options.adapter, listed(&clock).await)?;
        let device = Device::request(&adapter, access, clock).await?;
        // Tests wait for a device, which a browser does not allow later.
        #[cfg(target_arch = "wasm32")]
        let (caps, verdicts, untested) = {
            let (caps, verdicts) = device.tested_async(&options).await;
            (caps, verdicts, None)
        };
        #[cfg(not(target_arch = "wasm32"))]
        let (caps, verdicts, untested) =
            (device.caps(&options), None, Some(Untested::new(adapter.clone(), access)));
        device.assemble(caps, verdicts, untested, options)
    }

    /// The adapters that [`GpuOptions::adapter`] selects from. An index counts in this order.
    ///
    /// The process keeps the instance of wgpu that lists them, once it lists any: a driver that is installed after that is found by
    /// the next process.
    #[cfg(not(target_arch = "wasm32"))]
    #[must_use]
    pub fn adapters() -> Vec<wgpu::Adapter> {
        pollster::block_on(Self::adapters_async())
    }

    /// As [`adapters`](Self::adapters), without blocking.
    pub async fn adapters_async() -> Vec<wgpu::Adapter> {
        listed(&DriverClock::default()).await
    }
}

impl BufferAccess {
    /// The access of a device that is to be opened with these options.
    ///
    /// # Errors
    /// [`Error::Input`] if shaders are to be checked: where the driver checks accesses to buffers, wgpu's checked
    /// shaders leave those to it.
    fn for_opening(options: &GpuOptions) -> Result<Self> {
        if options.buffer_access.is_unchecked && options.checks == Checks::Checked {
            return Err(Error::input(
                "Gpu::open: buffer_access",
                "`BufferAccess::unchecked` cannot be combined with `Checks::Checked` (TILEWISE_CHECKED=1), because \
                 checked shaders rely on the driver's checks of accesses to buffers; set only one of the two",
            ));
        }
        Ok(options.buffer_access)
    }
}

/// The adapters.
async fn listed(clock: &DriverClock) -> Vec<wgpu::Adapter> {
    let flags = flags();
    let instance = clock.time(DriverCall::Instance, || instance(flags));
    let _timed = clock.start(DriverCall::Adapters);
    let adapters = instance.enumerate_adapters(BACKENDS).await;
    #[cfg(not(target_arch = "wasm32"))]
    if !adapters.is_empty() {
        keep(flags, &instance);
    }
    adapters
}

#[cfg(not(target_arch = "wasm32"))]
const NEEDED_TO_OPEN: &str =
    "a Vulkan, Metal or DX12 driver (on Linux, install your GPU's driver or mesa-vulkan-drivers)";
#[cfg(target_arch = "wasm32")]
const NEEDED_TO_OPEN: &str = "a browser that offers WebGPU on this device";

fn choose(choice: &AdapterChoice, mut adapters: Vec<wgpu::Adapter>) -> Result<wgpu::Adapter> {
    if adapters.is_empty() {
        return Err(Error::Unsupported {
            op: "Gpu::open",
            needs: NEEDED_TO_OPEN.into(),
            device: "this machine".into(),
        });
    }
    let named = |adapter: &wgpu::Adapter, name: &str| {
        adapter.get_info().name.to_lowercase().contains(&name.to_lowercase())
    };
    let rank = |order: [DeviceType; 4]| {
        move |adapter: &wgpu::Adapter| {
            let kind = DeviceType::of(adapter.get_info().device_type);
            order.iter().position(|&k| k == kind).unwrap_or(order.len())
        }
    };
    use DeviceType::{Discrete, Integrated, Software, Virtual};
    let index = match choice {
        AdapterChoice::Fastest => first_min(&adapters, rank([Discrete, Integrated, Virtual, Software])),
        AdapterChoice::LowPower => first_min(&adapters, rank([Integrated, Discrete, Virtual, Software])),
        AdapterChoice::Index(index) => Some(*index).filter(|&i| i < adapters.len()),
        AdapterChoice::Name(name) => adapters.iter().position(|adapter| named(adapter, name)),
    };
    index.map(|index| adapters.swap_remove(index)).ok_or_else(|| {
        let names: Vec<_> = adapters
            .iter()
            .enumerate()
            .map(|(i, adapter)| format!("{i}: {}", adapter.get_info().name))
            .collect();
        Error::input(
            format!("adapter {choice}"),
            format!("no adapter has this index or name; the adapters are: {}", names.join(", ")),
        )
    })
}

fn first_min(adapters: &[wgpu::Adapter], rank: impl Fn(&wgpu::Adapter) -> usize) -> Option<usize> {
    (0..adapters.len()).min_by_key(|&i| rank(&adapters[i]))
}
