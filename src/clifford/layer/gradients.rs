//! What products of layers hand back.

use super::super::multivectors::Multivectors;
use crate::tensor::{Real, Tensor};

/// The gradients of a layer's product, each in its operand's shape; that of the weight in f32, as sums over a batch are.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the operands' names")]
pub struct ProductGradients<T: Real> {
    pub x: Multivectors<T>,
    pub y: Multivectors<T>,
    pub weight: Tensor<f32>,
}
