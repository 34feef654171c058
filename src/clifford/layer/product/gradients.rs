//! The gradients of a layer's product.

use crate::clifford::batch::multivectors::Multivectors;
use crate::layout::Real;
use crate::tensor::Tensor;

/// The gradients of a loss with respect to the operands and weights of a layer's product. Those of the operands have
/// the operands' type, that of the weights is f32.
#[derive(Clone, Debug)]
pub struct ProductGradients<T: Real> {
    /// The gradient with respect to the left operand.
    pub x: Multivectors<T>,
    /// The gradient with respect to the right operand.
    pub y: Multivectors<T>,
    /// The gradient with respect to the weights, in their shape.
    pub weight: Tensor<f32>,
}
