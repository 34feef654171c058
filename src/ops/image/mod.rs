//! Images: tensors from and to the contents of an application's textures, on the device.
//!
//! A texture is copied to a buffer, or from one, and one launch converts between the texels in the buffer and the tensor. The
//! kernels do not bind the texture itself, for four reasons:
//!
//! - Copies need `COPY_SRC` and `COPY_DST`. Textures that are uploaded or read back have these usages already. A kernel
//!   would need `TEXTURE_BINDING` and `STORAGE_BINDING`, and the usages of a texture cannot change later.
//! - The bits are the same on every device. When a GPU itself stores a colour in rgba8unorm, Vulkan and WebGPU leave the
//!   rounding open, and it may flush subnormal numbers.
//! - The runtime's rules for buffers (order, failures, taken work) apply without a second kind of operand.
//! - It needs no feature of the device, so it works in browsers.
//!
//! In return, texels are written and read once more: 8 bytes for a texel of rgba8unorm, next to 20 bytes for the texel and a
//! tensor of f32 with four channels.

mod call;
mod format;
mod pixels;
mod plan;
pub(crate) mod problem;

pub use format::TexelFormat;
pub use pixels::Pixels;
