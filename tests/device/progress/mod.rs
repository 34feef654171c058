//! What reports its progress can be cancelled, and leaves the device as it was.

mod calls;
mod scopes;
mod waits;
