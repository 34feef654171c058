//! An open device, before a `Gpu` is built on it, and its capabilities.

pub(super) mod adapter;
pub(super) mod open_device;
