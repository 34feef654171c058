//! Replay: launches that are captured once and then run any number of times.

mod capture;
pub(super) mod captured;
mod display;
mod input;
mod kept;
pub(super) mod launches;
mod replay;

pub use replay::Replay;

/// The function that errors of a capture name.
const OP: &str = "capture";

/// The function that errors of a run name.
const RUN: &str = "Replay::run";
