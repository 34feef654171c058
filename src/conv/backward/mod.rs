//! Gradients of convolutions, and transposed convolutions, which are gradients of images.

mod call;
mod kernel;
mod plan;
pub(crate) mod problem;
mod product;
mod transposed;

pub use call::{conv2d_backward, conv3d_backward};
pub use transposed::{conv_transpose2d, conv_transpose2d_backward};
