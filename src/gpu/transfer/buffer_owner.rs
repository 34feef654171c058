//! Checks that a buffer can be used on a device: it belongs to the device, is not mapped, and is not destroyed.

use crate::error::GpuMismatch;
use crate::gpu::driver::error_scope::{INVALID_BUFFER, device_error, in_error_scope, result_and_error};
use crate::gpu::driver::lock::foreign;
use crate::gpu::handle::gpu::Gpu;
use crate::gpu::kernels::pipelines::storage_entry;
use crate::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
use wgpu::wgc::binding_model::CreateBindGroupError;
use wgpu::wgc::device::DeviceError;
use wgpu::wgc::resource::BufferAccessError;

/// Checks that an application's buffer is on this device and that kernels can use it now. The buffer has neither `MAP_READ`
/// nor `MAP_WRITE`. In a browser, wgpu's own checks answer later.
///
/// NOTE: as for devices (`same_gpu`), `==` is not enough: wgpu compares buffers by numbers that each instance counts
/// from 0, and a number of another instance can be that of one of our buffers, or of none, which is a panic of wgpu. So
/// the first question is whether our device can bind the buffer: it refuses the buffers of other devices. The second
/// question is which device reports an error of the buffer itself. To unmap a buffer that is not mapped is such an
/// error, and has no other effect.
pub(in crate::gpu) fn check_usable(op: &'static str, gpu: &Gpu, buffer: &wgpu::Buffer) -> Result<()> {
    if is_mapped(buffer) {
        let why = "it is mapped, because it was created with `mapped_at_creation`; call `unmap()` first";
        return Err(Error::input(format!("{op}: the buffer"), why));
    }
    let own = OwnErrors { mismatch: GpuMismatch::Buffer, what: "the buffer", is_of_another_device, is_own };
    own.check(op, &gpu.inner.device, || bind(&gpu.inner.device, buffer), || buffer.unmap())
}

/// How an application's object shows whose it is: by the errors of its use.
pub(in crate::gpu) struct OwnErrors {
    pub(in crate::gpu) mismatch: GpuMismatch,
    pub(in crate::gpu) what: &'static str,
    /// Whether a device refuses to use the object because it is another device's.
    pub(in crate::gpu) is_of_another_device: fn(&wgpu::Error) -> bool,
    /// Whether an error is the one that the object itself reports of a wrong call.
    pub(in crate::gpu) is_own: fn(&wgpu::Error) -> bool,
}

impl OwnErrors {
    /// Checks that an object is the device's and can be used. `used` uses it on the device, and `wrong` is a call of the object
    /// that its device reports as an error, and that has no other effect.
    pub(in crate::gpu) fn check(
        &self,
        op: &'static str,
        device: &wgpu::Device,
        used: impl FnOnce() -> Result<(), wgpu::Error>,
        wrong: impl FnOnce(),
    ) -> Result<()> {
        let elsewhere = || Error::Gpu { op, mismatch: self.mismatch };
        let refused = match catch_unwind(AssertUnwindSafe(used)) {
            Err(_) => return Err(elsewhere()),
            Ok(Err(error)) if (self.is_of_another_device)(&error) => return Err(elsewhere()),
            Ok(Err(error @ wgpu::Error::OutOfMemory { .. })) => return Err(device_error(error)),
            Ok(used) => used.err(),
        };
        let wrong = || catch_unwind(AssertUnwindSafe(|| foreign(wrong)));
        match result_and_error(device, wrong).1 {
            Some(error) if (self.is_own)(&error) && refused.is_none() => Ok(()),
            _ if is_lost(device) => Err(Error::device("the device is lost")),
            None => Err(elsewhere()),
            Some(error) => {
                let why = format!("it was destroyed, or its creation failed: {}", refused.unwrap_or(error));
                Err(Error::input(format!("{op}: {}", self.what), why))
            }
        }
    }
}

/// Whether the host has the buffer mapped. wgpu says of a buffer that is not mapped that the range is not valid; any other
/// refusal is about a view that the application holds.
fn is_mapped(buffer: &wgpu::Buffer) -> bool {
    match buffer.slice(..4).get_mapped_range() {
        Ok(_) => true,
        Err(error) => !error.to_string().contains("Validation Error"),
    }
}

/// Whether wgpu refused a binding because the buffer is another device's.
fn is_of_another_device(error: &wgpu::Error) -> bool {
    let mismatch = |error: &CreateBindGroupError| {
        matches!(error, CreateBindGroupError::Device(DeviceError::DeviceMismatch(_)))
    };
    cause(error).is_some_and(mismatch)
}

/// Whether wgpu says that the buffer is not mapped.
fn is_own(error: &wgpu::Error) -> bool {
    matches!(cause(error), Some(BufferAccessError::NotMapped))
}

/// wgpu's own error in an error. NOTE: its text cannot be compared, because it contains the application's labels.
pub(in crate::gpu) fn cause<E: std::error::Error + 'static>(error: &wgpu::Error) -> Option<&E> {
    let first: &(dyn std::error::Error + 'static) = error;
    std::iter::successors(Some(first), |&error| error.source()).find_map(|error| error.downcast_ref())
}

/// Binds the buffer's first bytes.
fn bind(device: &wgpu::Device, buffer: &wgpu::Buffer) -> Result<(), wgpu::Error> {
    let desc = wgpu::BindGroupLayoutDescriptor {
        label: Some("tilewise: a buffer's owner"),
        entries: &[storage_entry(0, true)],
    };
    let first = wgpu::BufferBinding { buffer, offset: 0, size: std::num::NonZeroU64::new(16) };
    in_error_scope(device, || {
        let layout = device.create_bind_group_layout(&desc);
        drop(device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("tilewise: a buffer's owner"),
            layout: &layout,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::Buffer(first) }],
        }));
    })
}

/// Whether the device reports no errors any more, as lost devices do.
fn is_lost(device: &wgpu::Device) -> bool {
    in_error_scope(device, || drop(device.create_buffer(&INVALID_BUFFER))).is_ok()
}
