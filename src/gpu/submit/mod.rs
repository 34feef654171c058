//! Records launches, submits them in order, and waits.

pub(super) mod flush;
pub(super) mod launch;
pub(super) mod queue;
#[cfg(not(target_arch = "wasm32"))]
pub(super) mod reported;
pub(super) mod scope_check;
pub(super) mod submit_guard;
pub(super) mod taken_check;
pub(super) mod wait;
