//! What was multiplied: sizes and types.

use serde::Deserialize;

/// Sizes and types of a product.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Product {
    pub(crate) m: u64,
    pub(crate) n: u64,
    pub(crate) k: u64,
    pub(crate) dtype: String,
    pub(crate) out_dtype: String,
}

impl Product {
    /// `m x n x k`.
    pub(crate) fn size(&self) -> String {
        format!("{} x {} x {}", self.m, self.n, self.k)
    }

    /// `f16 -> f32`.
    pub(crate) fn types(&self) -> String {
        format!("{} -> {}", self.dtype, self.out_dtype)
    }
}
