//! Normalisation: of each grade of a product ([`GradeNorm`](super::GradeNorm)), and of multivectors with learnt gains.
//!
//! [`rows`](super::rows) computes the first, [`features`](super::features) the others.

mod mv_layer_norm;
mod mv_normalization;
mod normalized;

pub use mv_layer_norm::MvLayerNorm;
pub use mv_normalization::MvNormalization;
