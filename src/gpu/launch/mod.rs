//! Compiles plans, checks calls of them, launches their kernels, and measures their time.

pub(super) mod call_check;
pub(super) mod compile;
pub(super) mod launch_plan;
#[cfg(not(target_arch = "wasm32"))]
pub(super) mod long_plan;
pub(super) mod proof;
pub(super) mod timing;
