//! Staging: uploads that are recorded in order, and reads, each through a ring of buffers that is bounded in bytes.

pub(super) mod reads;
pub(super) mod ring;
mod room;
pub(super) mod slot;
pub(super) mod uploads;
mod write;
