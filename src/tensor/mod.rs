//! Tensors: a buffer of a device, and a layout of its elements.

mod array;
mod create;
mod display;
mod from_buffer;
#[cfg(feature = "ndarray")]
mod ndarray;
mod parameters;
mod transfer;
mod view;
mod write;

pub use array::Tensor;
pub use parameters::Parameters;
