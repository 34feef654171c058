//! Recorded work: launches, copies, scopes, and recordings that wait for submission.

pub(super) mod captured;
pub(super) mod counts;
pub(super) mod input_mark;
pub(super) mod new_launch;
pub(super) mod plan_capture;
pub(super) mod reads;
pub(super) mod recorder;
pub(super) mod recording;
pub(super) mod replay_input;
pub(super) mod replay_launches;
pub(super) mod scope;
pub(super) mod staging_ring;
pub(super) mod staging_slot;
pub(super) mod submit_turn;
pub(super) mod suspended;
pub(super) mod texel_copy;
pub(super) mod upload_count;
pub(super) mod uploads;
pub(super) mod work;
