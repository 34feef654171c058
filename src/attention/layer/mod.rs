//! Layers of transformers: attention with its projections, a cache of keys and values, and a whole block.

mod backward;
mod block;
mod builder;
mod cache;
mod cache_position;
#[cfg(feature = "safetensors")]
mod file;
mod forward;
mod heads;
pub(crate) mod kinds;
mod multi_head;
mod replayable_cache;
mod rows;
mod tensors;

pub use backward::SavedAttention;
pub use block::{TransformerBlock, TransformerBlockBuilder};
pub use builder::MultiHeadAttentionBuilder;
pub use cache::KeyValueCache;
pub use kinds::{Biases, BlockNorm, FeedForward, NormPosition};
pub use multi_head::MultiHeadAttention;
