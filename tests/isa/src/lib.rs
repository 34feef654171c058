//! What the compilers of AMD's, NVIDIA's and Intel's GPUs make of the library's kernels, without such a GPU.
//!
//! Mesa's drivers compile for hardware that is not here: shims answer in the place of the kernel's drivers. The plans of a
//! device ([`plans`]) are written as SPIR-V in the way of wgpu ([`spirv`]), made into pipelines ([`vulkan`]) in a process
//! that runs under the driver ([`session`]), and told as rows ([`row`]) that can be compared ([`diff`]).

pub mod assembly;
pub mod checks;
mod compile;
pub mod diff;
pub mod plans;
pub mod row;
pub mod session;
mod spirv;
pub mod steps;
mod support;
pub mod target;
mod vulkan;
