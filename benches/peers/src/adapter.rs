//! Finds the adapter of the library's device among those that CubeK can open.

use crate::error::{Error, Result};
use cubecl::wgpu::{WgpuBackend, WgpuDevice, WgpuDeviceKind};
use tilewise::Gpu;
use tilewise::wgpu::{AdapterInfo, Backend, DeviceType};

/// Opens the library's device.
pub(crate) fn open() -> Result<Gpu> {
    Gpu::open().map_err(|error| match error {
        tilewise::Error::Unsupported { .. } => Error::NoAdapter(error),
        other => other.into(),
    })
}

/// CubeK's name of the adapter of the library's device: its place among the adapters of the same type and interface.
pub(crate) fn selector(gpu: &Gpu) -> Result<WgpuDevice> {
    let info = gpu.device().adapter_info();
    let adapters = Gpu::adapters();
    let found: Vec<AdapterInfo> = adapters.iter().map(|adapter| adapter.get_info()).collect();
    place(&info, &found).ok_or_else(|| {
        let why = format!("it cannot select this adapter among the {} adapters that wgpu lists", found.len());
        Error::Adapter { device: info.name.clone(), why }
    })
}

/// An error unless the adapter that CubeK opened is the one of the library's device.
pub(crate) fn check_same(gpu: &Gpu, opened: &AdapterInfo) -> Result<()> {
    let info = gpu.device().adapter_info();
    if same(&info, opened) {
        return Ok(());
    }
    let why = format!("it opened {} ({}) instead", opened.name, opened.driver_info);
    Err(Error::Adapter { device: info.name.clone(), why })
}

fn place(info: &AdapterInfo, adapters: &[AdapterInfo]) -> Option<WgpuDevice> {
    let backend = match info.backend {
        Backend::Vulkan => WgpuBackend::Vulkan,
        Backend::Metal => WgpuBackend::Metal,
        Backend::Dx12 => WgpuBackend::Dx12,
        Backend::Gl => WgpuBackend::Gl,
        Backend::BrowserWebGpu | Backend::Noop => return None,
    };
    let alike = |other: &&AdapterInfo| (other.backend, other.device_type) == (info.backend, info.device_type);
    let index = adapters.iter().filter(alike).position(|other| same(info, other))?;
    let kind = match info.device_type {
        DeviceType::DiscreteGpu => WgpuDeviceKind::DiscreteGpu(index),
        DeviceType::IntegratedGpu => WgpuDeviceKind::IntegratedGpu(index),
        DeviceType::VirtualGpu => WgpuDeviceKind::VirtualGpu(index),
        DeviceType::Other => WgpuDeviceKind::Other(index),
        DeviceType::Cpu if index == 0 => WgpuDeviceKind::Cpu,
        DeviceType::Cpu => return None,
    };
    Some(WgpuDevice::new(kind).on(backend))
}

/// Whether both describe one adapter: name, driver and place on the bus.
fn same(one: &AdapterInfo, other: &AdapterInfo) -> bool {
    let key = |info: &AdapterInfo| {
        (info.backend, info.name.clone(), info.driver_info.clone(), info.device_pci_bus_id.clone())
    };
    key(one) == key(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapter(name: &str, device_type: DeviceType) -> AdapterInfo {
        let mut info = AdapterInfo::new(device_type, Backend::Vulkan);
        info.name = name.into();
        info
    }

    #[test]
    fn an_adapter_is_selected_by_its_place_among_its_kind() {
        let [a, b, cpu, noop] = [
            adapter("A", DeviceType::DiscreteGpu),
            adapter("B", DeviceType::DiscreteGpu),
            adapter("llvmpipe", DeviceType::Cpu),
            AdapterInfo::new(DeviceType::Other, Backend::Noop),
        ];
        let adapters = [a, cpu.clone(), b.clone(), noop.clone()];
        assert_eq!(
            place(&b, &adapters),
            Some(WgpuDevice::new(WgpuDeviceKind::DiscreteGpu(1)).on(WgpuBackend::Vulkan))
        );
        assert_eq!(
            place(&cpu, &adapters),
            Some(WgpuDevice::new(WgpuDeviceKind::Cpu).on(WgpuBackend::Vulkan))
        );
        assert_eq!(place(&noop, &adapters), None);
    }

    #[test]
    fn an_adapter_that_is_not_listed_is_refused() {
        let listed = [adapter("A", DeviceType::DiscreteGpu), adapter("swiftshader", DeviceType::Cpu)];
        assert_eq!(place(&adapter("B", DeviceType::DiscreteGpu), &listed), None);
        assert_eq!(place(&adapter("llvmpipe", DeviceType::Cpu), &listed), None);
    }
}
