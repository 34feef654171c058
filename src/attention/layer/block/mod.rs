//! A block of a transformer: attention and feed-forward, each with a residual and a norm.

mod builder;
#[cfg(feature = "safetensors")]
mod file;
mod forward;
mod norm;
mod transformer_block;

pub use builder::TransformerBlockBuilder;
pub use transformer_block::TransformerBlock;
