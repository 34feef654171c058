//! Sketched convolutions: a dense kernel as the mean of terms of low rank, each with one frozen factor.

mod builder;
#[cfg(feature = "safetensors")]
mod file;
#[cfg(all(feature = "factorisations", not(target_arch = "wasm32")))]
mod fit;
mod gradients;
mod sk_conv2d;

pub use builder::{FittedConv, SkConv2dBuilder};
pub use sk_conv2d::SkConv2d;
