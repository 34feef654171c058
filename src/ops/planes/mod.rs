//! Images with channels last, (batch, height, width, channels): pooling, other sizes, and pixels from channels.

mod adaptive;
mod average;
pub(crate) mod axis;
mod interpolate;
mod kernel;
mod maximum;
pub(crate) mod options;
mod pixel_shuffle;
mod plan;
pub(crate) mod problem;
mod run;

pub use adaptive::{AdaptiveAvgPool2d, AdaptiveMaxPool2d};
pub use average::AvgPool2d;
pub use interpolate::{interpolate, interpolate_backward};
pub use maximum::MaxPool2d;
pub use options::{Corners, Interpolation, PoolDivisor, PoolPadding, PoolRounding};
pub use pixel_shuffle::{pixel_shuffle, pixel_unshuffle};
pub use run::MaxPooled;
