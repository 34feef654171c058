//! What Panther's own code computed.

mod held;
mod layer;
pub(crate) mod panther;
