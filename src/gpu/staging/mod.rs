//! Staging: uploads that are recorded in order, from a ring of mapped buffers that is bounded in bytes.

pub(super) mod room;
pub(super) mod slot;
pub(super) mod uploads;
mod write;
