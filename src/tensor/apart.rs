//! Operands must be of one `Gpu`.

use crate::error::Apart;
use crate::gpu::Gpu;
use crate::{Error, Result};
use futures::FutureExt;

/// Checks that both are one `Gpu`, or says what keeps them apart.
pub(crate) fn check_same_gpu(op: &'static str, a: &Gpu, b: &Gpu) -> Result<()> {
    if a.is_same(b) {
        return Ok(());
    }
    let apart = if are_one_device(a.device(), b.device()) { Apart::Adoptions } else { Apart::Devices };
    Err(Error::Gpu { op, apart })
}

/// Whether both handles are of one device.
///
/// NOTE: wgpu compares them by numbers that each instance counts from 0, so that the first devices of two instances are
/// equal. An error scope is the device's own: of one device, an error of `a` goes to the scope that was pushed last, by `b`;
/// of two, to that of `a`. In the browser, where scopes answer later, this says no.
fn are_one_device(a: &wgpu::Device, b: &wgpu::Device) -> bool {
    if a != b {
        return false;
    }
    let of_a = a.push_error_scope(wgpu::ErrorFilter::Validation);
    let of_b = b.push_error_scope(wgpu::ErrorFilter::Validation);
    drop(a.create_buffer(&wgpu::BufferDescriptor {
        label: Some("tilewise: a buffer that no device makes"),
        size: 4,
        usage: wgpu::BufferUsages::empty(),
        mapped_at_creation: false,
    }));
    let seen_by_b = of_b.pop().now_or_never().flatten();
    of_a.pop().now_or_never();
    seen_by_b.is_some()
}
