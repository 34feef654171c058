//! The peak rates of a device, measured: [`Gpu::measure_machine`](crate::Gpu::measure_machine).

pub(crate) mod matrices;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod measure;
mod plan;
pub(crate) mod problem;
