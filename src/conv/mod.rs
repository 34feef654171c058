//! Convolutions of images that are stored channels last.
//!
//! Data flows one way: `geometry` (extents, checked), `problem`, `direct` and `depthwise` (the kernels), `plan` with its `candidates`, then
//! `call`, then `layer`.

pub(crate) mod backward;
mod batch_norm;
mod call;
mod candidates;
mod channel_reads;
mod channels_first;
mod conv1d;
mod depthwise;
mod direct;
mod extents;
pub(crate) mod geometry;
mod layer;
mod options;
mod plan;
pub(crate) mod problem;
mod product;
mod quantised;
pub(crate) mod quantised_problem;
mod volumes;
mod windows;

pub use backward::{conv_transpose2d, conv_transpose2d_backward, conv2d_backward, conv3d_backward};
pub use batch_norm::{batch_norm_terms, fold_batch_norm};
pub use call::{Convolution, conv2d, conv3d};
pub use channels_first::ChannelsFirst;
pub use conv1d::conv1d;
pub use geometry::{ConvAxis, ConvGeometry};
pub use layer::{BatchNorm2d, Conv2d, ConvBnAct, ConvTranspose2d, FoldedConv, SavedConvBnAct};
pub use options::{ConvOptions, Padding, SamePadding};
pub use quantised::{ConvScales, conv2d_quantised};
