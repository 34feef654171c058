//! The turn to submit. Recordings are submitted one at a time, in the order of their numbers, by whichever thread needs
//! one submitted.
//!
//! wgpu runs callbacks inside `submit`, the application's among them, and they may call this crate (re-entrancy). So no
//! lock is held during `submit`. The turn keeps the order instead. A thread takes the turn together with the first
//! closed recording, and owns both until the recording is in the queue. Other threads wait for the end of the turn. If
//! a callback calls this crate during a turn, there are three cases:
//!
//! - The callback runs in the submitting thread, inside wgpu's `submit`, and needs something submitted. wgpu runs
//!   callbacks only after the submission itself, so the call ends the turn.
//! - The callback waits inside `submit` for another thread, and that thread waits for the turn. The other thread asks
//!   the device whether the submission has run, and if so, ends the turn.
//! - wgpu reports that a submission was refused. That may have been this submission, or one that a callback made inside
//!   it. The turn becomes unconfirmed. Before anything else is submitted, any thread that depends on the answer queries
//!   the device, which shows which of the two it was.

use super::recording::Recording;
use crate::gpu::buffers::failures::Reason;
use std::sync::Arc;
use std::thread::ThreadId;

/// The turn of the thread that submits, and its progress.
pub(in crate::gpu) struct SubmitTurn {
    pub(in crate::gpu) thread: ThreadId,
    pub(in crate::gpu) phase: Phase,
    /// Number of this turn.
    pub(in crate::gpu) ticket: u64,
    /// Number of the recording that is submitted; `has_more_pieces`: whether more pieces of it follow.
    pub(in crate::gpu) number: u64,
    pub(in crate::gpu) has_more_pieces: bool,
}

pub(in crate::gpu) enum Phase {
    /// Commands are being encoded. Nothing has been submitted yet.
    Encoding,
    /// wgpu's `submit` has been called. wgpu runs callbacks after the submission itself.
    Submitting,
    /// wgpu has refused a submission: this one, or another that a callback made inside it.
    Unconfirmed(Box<UnconfirmedSubmission>),
}

/// A recording that may or may not be in the queue.
pub(in crate::gpu) struct UnconfirmedSubmission {
    pub(in crate::gpu) recording: Recording,
    /// Its submission, if the recording is in the queue.
    pub(in crate::gpu) index: wgpu::SubmissionIndex,
    /// Why it was refused, if it is not in the queue.
    pub(in crate::gpu) failure: Failure,
}

/// Why a recording could not be submitted.
pub(in crate::gpu) struct Failure {
    pub(in crate::gpu) why: Reason,
    /// Whether a single launch may be the cause. The launches are then submitted one by one.
    pub(in crate::gpu) may_be_one_launch: bool,
}

impl Failure {
    pub(in crate::gpu) fn of(recording: &Recording, error: &wgpu::Error) -> Self {
        let why = Arc::from(format!("{} failed: {error}", recording.name()));
        Self { why, may_be_one_launch: matches!(error, wgpu::Error::Validation { .. }) }
    }
}
