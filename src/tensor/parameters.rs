//! Trained tensors by name.

use super::array::Tensor;
use crate::layout::Element;

/// A layer with named parameters: the tensors that an optimiser updates and a file stores.
///
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::{Activation, Fill, Linear, Parameters};
///
/// let weight = gpu.random::<f32>([10, 64], Fill::Uniform, 1)?;
/// let layer = Linear::new(weight, None, Activation::None)?;
/// for (name, tensor) in layer.parameters() {
///     println!("{name} {:?}", tensor.shape()); // weight [10, 64]
/// }
/// # Ok(())
/// # }
/// ```
pub trait Parameters<T: Element> {
    /// The layer's parameters, with the names that files use for them. An optional parameter that the layer lacks is
    /// left out.
    fn parameters(&self) -> Vec<(&'static str, &Tensor<T>)>;
}
