//! Compiles the library's kernels with the compilers of AMD's, NVIDIA's and Intel's GPUs, without such a GPU.
//!
//! Mesa's drivers can compile for absent hardware if a shim answers in place of the operating system's driver. This crate plans
//! for a device ([`plans`]), translates the kernels to SPIR-V as wgpu does ([`spirv`]), creates their pipelines ([`vulkan`]) in
//! a process that runs under the driver ([`session`]), and reports the results as rows ([`row`]). Rows of two runs can be
//! compared ([`diff`]).

pub mod assembly;
pub mod checks;
mod compile;
mod contiguous;
pub mod diff;
pub mod issue;
pub mod loops;
pub mod plans;
pub mod row;
pub mod session;
pub mod slots;
mod spirv;
pub mod steps;
pub mod target;
mod vulkan;
