//! Checks that the adapter, the device and the queue of an application belong together.

use crate::gpu::driver::error_scope::{INVALID_BUFFER, in_error_scope};
use crate::gpu::driver::progress::NUMBERS_BYTES;
use crate::gpu::kernels::ring::STEP;
use crate::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The call that errors name.
pub(in crate::gpu) const OP: &str = "Gpu::adopt";

/// Checks that the device computes, with limits that every launch needs; that it was opened from this adapter, or from
/// another handle of the same physical device; and that the queue is its own. In a browser, where errors come later, only the
/// limits are checked.
///
/// # Errors
/// [`Error::Unsupported`] for a device without compute shaders, or without the bindings that pass dims; [`Error::Limit`] for
/// a device with tiny buffers only; [`Error::Input`] if the three do not belong together.
pub(in crate::gpu) fn check(
    adapter: &wgpu::Adapter,
    device: &wgpu::Device,
    queue: &wgpu::Queue,
) -> Result<()> {
    check_limits(device)?;
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

/// Checks the limits that every launch needs, whatever its kernel. An application may have opened the device with fewer than
/// any adapter has.
fn check_limits(device: &wgpu::Device) -> Result<()> {
    let limits = device.limits();
    let immediates = device.features().contains(wgpu::Features::IMMEDIATES);
    let room = if immediates { limits.max_immediate_size as usize } else { 0 };
    // Kernels whose dims do not fit into immediates take them from the ring, in a bind group of its own.
    let (groups, uniform_bytes) = if room < STEP { (2, STEP as u64) } else { (1, 0) };
    let workgroup = [
        limits.max_compute_invocations_per_workgroup,
        limits.max_compute_workgroup_size_x,
        limits.max_compute_workgroup_size_y,
        limits.max_compute_workgroup_size_z,
        limits.max_compute_workgroups_per_dimension,
    ];
    let needs = if workgroup.contains(&0) {
        "compute shaders".into()
    } else if limits.max_bind_groups < groups {
        format!("{groups} bind groups")
    } else if limits.max_dynamic_uniform_buffers_per_pipeline_layout == 0
        || limits.max_uniform_buffers_per_shader_stage == 0
        || limits.max_bindings_per_bind_group == 0
    {
        "a uniform buffer at dynamic offsets".into()
    } else if limits.max_uniform_buffer_binding_size < uniform_bytes {
        format!("{uniform_bytes} bytes of a uniform buffer")
    } else if limits.max_buffer_size < NUMBERS_BYTES {
        let (what, allowed) = ("one buffer in bytes".into(), limits.max_buffer_size);
        return Err(Error::Limit { op: OP, what, needed: NUMBERS_BYTES, allowed });
    } else {
        return Ok(());
    };
    Err(Error::Unsupported {
        op: OP,
        needs: format!("{needs}: open the device with the limits of `Gpu::device_descriptor`"),
        device: format!("{}, as this device was opened", device.adapter_info().name),
    })
}

/// Whether the queue is the device's, or the device is lost, which reports no error.
///
/// NOTE: wgpu does not say whose queue it is. But it reports an error of a queue's call to the queue's device. So this
/// function causes an error, a write to an invalid buffer, and asks whether the device's error scope has caught it. If the
/// queue is one of another instance, wgpu does not know the buffer, and panics.
fn owns(device: &wgpu::Device, queue: &wgpu::Queue) -> bool {
    let mut buffer = None;
    let reports = in_error_scope(device, || buffer = Some(device.create_buffer(&INVALID_BUFFER))).is_err();
    let write = || buffer.iter().for_each(|buffer| queue.write_buffer(buffer, 0, &[0; 4]));
    let written = catch_unwind(AssertUnwindSafe(|| in_error_scope(device, write)));
    !reports || matches!(written, Ok(Err(_)))
}
