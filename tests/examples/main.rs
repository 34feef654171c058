//! The examples as a user runs them. Any device will do.

mod algebra;
mod equivariant;
mod gemm;
mod mlp;
mod motors;
#[path = "../support/mod.rs"]
mod support;
mod wgpu_app;
