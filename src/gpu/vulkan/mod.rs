//! What wgpu does not ask a Vulkan driver: data in, data out.
#![expect(
    unsafe_code,
    reason = "Vulkan's functions are unsafe; a comment at each call says why its conditions hold"
)]

mod rows;

pub(super) use rows::rows;
