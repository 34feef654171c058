//! Convolutions of images that are stored channels last.

pub(crate) mod geometry;
mod options;

pub use geometry::{ConvAxis, ConvGeometry};
pub use options::{ConvOptions, Padding, SamePadding};
