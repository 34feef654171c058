//! An application's own Vulkan device: adopted, with its buffers and its semaphores.
#![expect(
    unsafe_code,
    reason = "Vulkan's functions are unsafe; a comment at each call says why its conditions hold"
)]

mod adapter;
mod device;
mod extensions;
mod feature_chain;
mod features;
mod from_vulkan;
mod live;
mod semaphores;
mod supported;
mod told;
mod vk_buffers;

pub use adapter::VulkanAdapter;
pub use device::VulkanDevice;
pub use feature_chain::VulkanFeatureChain;
pub use features::VulkanFeatures;
