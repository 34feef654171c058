//! Kernels: shaders from `shaders/`, with their parameters and slots filled in.

mod directive;
mod grid;
mod library;
mod limits;
mod lines;
mod memory;
mod operand;
mod params;
mod paste;
mod signature;
mod source;
mod specialize;
mod unroll;
mod words;
pub(crate) mod write;

pub use grid::fold;
pub use library::{KERNELS, PARTS};
pub use limits::Needs;
pub(crate) use limits::{check_binding, check_scratch, lanes, own_bytes};
pub(crate) use memory::{Memory, Width};
pub(crate) use operand::Access;
pub use paste::Part;
pub(crate) use signature::{Signature, signature};
pub use source::Kernel;
pub use unroll::{UnrollError, unroll};
