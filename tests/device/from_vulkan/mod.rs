//! An application's own Vulkan device: what it has, what it lacks, its buffers and semaphores, and the end of it.

mod buffers;
mod features;
mod lifetimes;
mod mistakes;
mod products;
mod semaphores;
