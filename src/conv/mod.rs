//! Convolutions of images that are stored channels last.
//!
//! Data flows one way: `geometry` (extents, checked), `problem`, `direct` (the kernel), `plan`, then `call`.

mod call;
mod direct;
pub(crate) mod geometry;
mod options;
mod plan;
pub(crate) mod problem;
mod product;

pub use call::{Convolution, conv2d};
pub use geometry::{ConvAxis, ConvGeometry};
pub use options::{ConvOptions, Padding, SamePadding};
