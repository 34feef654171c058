//! Batches of multivectors on the device.

pub(crate) mod multivectors;
pub(crate) mod product;
mod reorder;
mod versors;
