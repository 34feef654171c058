//! What the products of layers hand back.

use crate::clifford::batch::multivectors::Multivectors;
use crate::layout::Real;
use crate::tensor::Tensor;

/// The gradients of a layer's product: of the operands in their type, of the weights in f32 whatever that is.
#[derive(Clone, Debug)]
pub struct ProductGradients<T: Real> {
    /// Of the left operand.
    pub x: Multivectors<T>,
    /// Of the right operand.
    pub y: Multivectors<T>,
    /// Of the weights, in their shape.
    pub weight: Tensor<f32>,
}
