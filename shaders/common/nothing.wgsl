//! Nothing, for a slot that a kernel leaves empty.
