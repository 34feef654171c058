//! The reductions of tensors, as users call them.

pub(crate) mod calls;
mod compute;
pub(crate) mod functions;
