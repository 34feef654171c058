//! What Panther's own code computed.

mod convolution;
mod held;
mod layer;
pub(crate) mod panther;
