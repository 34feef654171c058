//! Checks that a texture can be used on a device: it belongs to the device, and is not destroyed.

use super::buffer_owner::{OwnErrors, cause};
use crate::Result;
use crate::error::GpuMismatch;
use crate::gpu::driver::error_scope::in_error_scope;
use crate::gpu::driver::lock::foreign;
use crate::gpu::handle::gpu::Gpu;
use crate::gpu::record::texel_copy::TexelCopy;
use wgpu::wgc::command::CommandEncoderError;
use wgpu::wgc::device::DeviceError;
use wgpu::wgc::resource::CreateTextureViewError;

/// Checks that the device can make this copy now. In a browser, wgpu's own checks answer later.
///
/// NOTE: in an application's encoder, a copy that wgpu refuses would make all of its commands invalid. So the copy is first
/// encoded into an encoder that is dropped. As for buffers (`buffer_owner`), that does not show which device owns the
/// texture: wgpu compares textures by numbers that each instance counts from 0. The second question is which device reports
/// an error of the texture itself. A view of a mip level that is not there is such an error, and has no other effect.
pub(in crate::gpu) fn check_copy(
    op: &'static str,
    gpu: &Gpu,
    copy: &TexelCopy,
    buffer: &wgpu::Buffer,
) -> Result<()> {
    let (device, texture) = (&gpu.inner.device, &copy.texture);
    let encode = || {
        in_error_scope(device, || {
            let desc = wgpu::CommandEncoderDescriptor { label: Some("tilewise: a texture's owner") };
            let mut encoder = device.create_command_encoder(&desc);
            copy.encode(buffer, &mut encoder);
            drop(foreign(|| encoder.finish()));
        })
    };
    let missing = wgpu::TextureViewDescriptor {
        label: Some("tilewise: a texture's owner"),
        base_mip_level: texture.mip_level_count(),
        ..Default::default()
    };
    let own = OwnErrors { mismatch: GpuMismatch::Texture, what: "the texture", is_of_another_device, is_own };
    own.check(op, device, encode, || drop(texture.create_view(&missing)))
}

/// Whether wgpu refused the view only for its mip level. NOTE: it looks first whether the texture is still there. In a copy,
/// it does so when the commands are submitted.
fn is_own(error: &wgpu::Error) -> bool {
    let is_mip_level = |error: &CreateTextureViewError| {
        matches!(
            error,
            CreateTextureViewError::ZeroMipLevelCount | CreateTextureViewError::TooManyMipLevels { .. }
        )
    };
    cause(error).is_some_and(is_mip_level)
}

/// Whether wgpu refused a copy because the texture is another device's.
fn is_of_another_device(error: &wgpu::Error) -> bool {
    let mismatch = |error: &CommandEncoderError| {
        matches!(error, CommandEncoderError::Device(DeviceError::DeviceMismatch(_)))
    };
    cause(error).is_some_and(mismatch)
}
