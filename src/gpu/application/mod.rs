//! Work that an application submits itself.

pub(super) mod record_into;
pub(super) mod take_commands;
pub(super) mod taken_encode;
