//! Checks that operands belong to one `Gpu`.

use crate::error::GpuMismatch;
use crate::gpu::Gpu;
use crate::gpu::driver::error_scope::INVALID_BUFFER;
use crate::{Error, Result};
use futures_util::FutureExt;

/// Checks that both operands belong to the same `Gpu`. The error says whether the devices differ, or the application
/// adopted one device twice.
pub(crate) fn check_same_gpu(op: &'static str, a: &Gpu, b: &Gpu) -> Result<()> {
    if a.is_same(b) {
        return Ok(());
    }
    let mismatch =
        if are_one_device(a.device(), b.device()) { GpuMismatch::Adoptions } else { GpuMismatch::Devices };
    Err(Error::Gpu { op, mismatch })
}

/// Whether both handles belong to one device.
///
/// NOTE: `==` is not enough. wgpu compares devices by numbers that each instance counts from 0, so the first devices of
/// two instances are equal. So this function pushes an error scope on `a`, then one on `b`, and causes an error on `a`.
/// If both are one device, the scope that was pushed last, that of `b`, catches the error. If they are two, the scope
/// of `a` catches it. In the browser, where scopes answer only later, the result is false.
fn are_one_device(a: &wgpu::Device, b: &wgpu::Device) -> bool {
    if a != b {
        return false;
    }
    let of_a = a.push_error_scope(wgpu::ErrorFilter::Validation);
    let of_b = b.push_error_scope(wgpu::ErrorFilter::Validation);
    drop(a.create_buffer(&INVALID_BUFFER));
    let seen_by_b = of_b.pop().now_or_never().flatten();
    of_a.pop().now_or_never();
    seen_by_b.is_some()
}
