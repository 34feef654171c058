//! Checks that what an application hands over belongs together: the adapter, the device and the queue.

use super::error_scope::in_error_scope;
use crate::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The call that errors name.
const OP: &str = "Gpu::adopt";

/// Checks that the device computes, was opened from this adapter, or from another handle of the same physical device, and
/// that the queue is its own. In a browser, where errors come later, only the first is checked.
///
/// # Errors
/// [`Error::Unsupported`] for a device without compute shaders; [`Error::Input`] if the three do not belong together.
pub(super) fn check(adapter: &wgpu::Adapter, device: &wgpu::Device, queue: &wgpu::Queue) -> Result<()> {
    if device.limits().max_compute_invocations_per_workgroup == 0 {
        return Err(Error::Unsupported {
            op: OP,
            needs: "compute shaders: open the device with the limits of `Gpu::device_descriptor`".into(),
            device: format!("{}, as this device was opened", device.adapter_info().name),
        });
    }
    if cfg!(target_arch = "wasm32") {
        return Ok(());
    }
    let (told, actual) = (adapter.get_info(), device.adapter_info());
    if told != actual {
        let [told, actual] = [told, actual].map(|info| format!("{} ({})", info.name, info.backend));
        let why = format!("it is {told}, but the device was opened from {actual}");
        return Err(Error::input(format!("{OP}: the adapter"), why));
    }
    if !owns(device, queue) {
        return Err(Error::input(format!("{OP}: the queue"), "it is the queue of another device"));
    }
    Ok(())
}

/// Whether the queue is the device's, or the device is lost, which reports no error.
///
/// NOTE: wgpu does not say whose queue it is. But it reports an error of a queue's call to the queue's device. So this
/// function causes an error, a write to an invalid buffer, and asks whether the device's error scope has caught it. If the
/// queue is one of another instance, wgpu does not know the buffer, and panics.
fn owns(device: &wgpu::Device, queue: &wgpu::Queue) -> bool {
    let invalid = wgpu::BufferDescriptor {
        label: Some("tilewise: an invalid buffer"),
        size: 4,
        usage: wgpu::BufferUsages::empty(),
        mapped_at_creation: false,
    };
    let mut buffer = None;
    let reports = in_error_scope(device, || buffer = Some(device.create_buffer(&invalid))).is_err();
    let write = || buffer.iter().for_each(|buffer| queue.write_buffer(buffer, 0, &[0; 4]));
    let written = catch_unwind(AssertUnwindSafe(|| in_error_scope(device, write)));
    !reports || matches!(written, Ok(Err(_)))
}
