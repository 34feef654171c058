//! Products of factorisations: of f32 as they are, whatever the device's precision is, since errors are promised.

use crate::tensor::Tensor;
use crate::{Gemm, Precision, Result};

/// A B, with options to follow.
pub(in crate::sketch) fn product<'a>(a: &'a Tensor<f32>, b: &'a Tensor<f32>) -> Gemm<'a, f32> {
    Gemm::new(a, b).precision(Precision::Strict)
}

/// A B.
pub(super) fn matmul(a: &Tensor<f32>, b: &Tensor<f32>) -> Result<Tensor<f32>> {
    product(a, b).run()
}
