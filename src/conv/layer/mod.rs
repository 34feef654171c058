//! Layers of convolutional networks, with the names and files of `PyTorch`.
//!
//! Data flows one way: `weights` (what both convolutions have), the layers, then `file`.

mod batch_norm2d;
mod conv2d;
mod conv_bn_act;
mod conv_transpose2d;
#[cfg(feature = "safetensors")]
mod file;
mod folded;
mod weights;

pub use batch_norm2d::BatchNorm2d;
pub use conv_bn_act::{ConvBnAct, SavedConvBnAct};
pub use conv_transpose2d::ConvTranspose2d;
pub use conv2d::Conv2d;
pub use folded::FoldedConv;
