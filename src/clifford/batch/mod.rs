//! Batches of multivectors on the device.

pub(crate) mod multivectors;
mod reorder;
mod versors;
