//! The examples as a user runs them. Any device will do.

mod algebra;
mod benchmark;
mod benchmark_compare;
mod benchmark_files;
mod classify;
mod embed;
mod equivariant;
mod explain;
mod frames;
mod gemm;
mod info;
mod mlp;
mod motors;
mod readme;
mod tune;
#[cfg(any(target_os = "linux", target_os = "windows", target_os = "android"))]
mod vulkan_app;
mod wgpu_app;
