//! The peak rates of a device, measured: [`Gpu::measure_machine`](crate::Gpu::measure_machine).

#[cfg(not(target_arch = "wasm32"))]
mod measure;
mod plan;
pub(crate) mod problem;
