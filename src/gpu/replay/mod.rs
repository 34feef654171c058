//! Captures of the launches of a closure, and their runs.

pub(super) mod capture;
pub(super) mod replay_bound;
pub(super) mod replay_display;
pub(super) mod replay_kept;
pub(super) mod replay_uses;
pub(super) mod run_input;
pub(super) mod runs;
