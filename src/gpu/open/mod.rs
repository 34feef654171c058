//! Opens a device, or adopts an application's.

pub(super) mod adopt;
pub(super) mod adopt_check;
pub(super) mod opening;
