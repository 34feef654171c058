//! What was multiplied: sizes and types.

use serde::{Deserialize, Serialize};

/// Sizes and types of a product.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Product {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub dtype: String,
    pub out_dtype: String,
}

impl Product {
    /// `m x n x k`.
    pub fn size(&self) -> String {
        format!("{} x {} x {}", self.m, self.n, self.k)
    }

    /// `f16 -> f32`.
    pub fn types(&self) -> String {
        format!("{} -> {}", self.dtype, self.out_dtype)
    }

    /// Operations, two for a multiply-add.
    pub fn operations(&self) -> f64 {
        2.0 * [self.m, self.n, self.k].iter().map(|&extent| extent as f64).product::<f64>()
    }
}
