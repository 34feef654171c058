//! Chooses plans by measurement.

#[cfg(not(target_arch = "wasm32"))]
pub(super) mod contenders;
#[cfg(test)]
pub(super) mod trial_faults;
#[cfg(not(target_arch = "wasm32"))]
pub(super) mod trial_operands;
#[cfg(not(target_arch = "wasm32"))]
pub(super) mod trial_results;
#[cfg(not(target_arch = "wasm32"))]
pub(super) mod trials;
#[cfg(not(target_arch = "wasm32"))]
pub(super) mod tune;
