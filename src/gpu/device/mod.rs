//! An open device, before a `Gpu` is built on it, and what it can do.

pub(super) mod adapter;
pub(super) mod open_device;
