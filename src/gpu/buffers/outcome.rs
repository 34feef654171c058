//! The outcome of a recording.

use super::failures::Reason;
use std::sync::OnceLock;

/// The submission of a recording, or why it failed. It may still be unset after the turn has ended: while the
/// submitting thread is in a callback, only that thread knows the index.
pub(in crate::gpu) type Outcome = OnceLock<Result<wgpu::SubmissionIndex, Reason>>;
