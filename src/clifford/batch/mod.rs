//! Batches of multivectors on the device.

pub(crate) mod multivectors;
mod points;
pub(crate) mod product;
mod shape;
mod versors;
