//! Sketched layers: the weight of a linear layer or a convolution as the mean of terms of low rank, each with one frozen factor.

mod backward;
mod builder;
mod conv;
mod factors;
#[cfg(feature = "safetensors")]
mod file;
#[cfg(all(feature = "factorisations", not(target_arch = "wasm32")))]
mod fit;
mod forward;
mod frozen;
mod products;
mod sk_linear;

pub use builder::{FittedLayer, SkLinearBuilder};
pub use conv::{FittedConv, SkConv2d, SkConv2dBuilder};
pub use forward::SkLinearForward;
pub use frozen::SignStorage;
pub use sk_linear::{SkLinear, pinned_layer};
