//! Tensors: a buffer of a device, and a layout of its elements.

mod array;
mod create;
mod destination;
mod from_buffer;
mod view;
mod write;

pub use array::Tensor;
pub(crate) use destination::{Destination, aside};
