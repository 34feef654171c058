//! Functions of multivectors in which the features of a row meet: products that are normalised row by row.
//!
//! One shader runs them all, `shaders/clifford/rows.wgsl`: its lanes hold a row together, and what they compute is text made
//! from the algebra's table. A row that is too long for a workgroup takes two launches, sums and then results.

mod gate_text;
mod kernel;
mod norm_text;
mod operands;
mod plan;
mod problem;
mod products;
mod results_text;
mod sums_text;
mod text;
mod tile;

pub use problem::{RowDims, RowFunction, RowLayouts, RowProblem, RowStep};
pub use tile::RowTile;

use super::form::LayerProduct;
use crate::clifford::Blades;
use crate::gpu::check_same_gpu;
use crate::layout::Real;
use crate::tensor::Tensor;
use crate::{Gpu, Result};

/// The operands of a function of rows: (blade, row, feature), and the weights (feature, path).
#[derive(Clone, Copy)]
pub(super) struct Given<'a, T: Real> {
    pub(super) x: &'a Tensor<T>,
    pub(super) y: Option<&'a Tensor<T>>,
    pub(super) g: Option<&'a Tensor<T>>,
    pub(super) w: Option<&'a Tensor<T>>,
}

/// What a function of rows makes: without gaps, in the shapes of the operands.
pub(super) struct Made<T: Real> {
    /// The result; of gradients, that of X.
    pub(super) c: Tensor<T>,
    /// The gradient of Y.
    pub(super) d: Option<Tensor<T>>,
    /// The gradient of the weights.
    pub(super) w: Option<Tensor<f32>>,
}

impl<T: Real> Given<'_, T> {
    fn gpu(&self, op: &'static str) -> Result<&Gpu> {
        let gpu = self.x.gpu();
        let others = [self.y, self.g, self.w];
        others.into_iter().flatten().try_for_each(|other| check_same_gpu(op, gpu, other.gpu()))?;
        Ok(gpu)
    }

    /// What is to be computed.
    pub(super) fn problem(
        &self,
        function: RowFunction,
        product: LayerProduct,
        blades: &Blades,
    ) -> Result<RowProblem> {
        let [y, g, w] = [self.y, self.g, self.w].map(|tensor| tensor.map(Tensor::layout));
        RowProblem::new(function, product, blades, RowLayouts { x: self.x.layout(), y, g, w }, T::DTYPE)
    }
}

/// A function of rows.
pub(super) fn run<T: Real>(
    function: RowFunction,
    product: LayerProduct,
    blades: &Blades,
    given: Given<'_, T>,
) -> Result<Made<T>> {
    let gpu = given.gpu(function.name())?;
    let problem = given.problem(function, product, blades)?;
    let inputs = [Some(given.x), given.y, given.g, given.w].into_iter().flatten();
    let inputs: Vec<_> = inputs.map(Tensor::view).collect();
    let shape = given.x.shape();
    if function != RowFunction::SteerableBackward {
        let [c] = gpu.make(&problem, &inputs, &[])?;
        return Ok(Made { c: Tensor::made(c, shape)?, d: None, w: None });
    }
    let [c, d, w] = gpu.make(&problem, &inputs, &[])?;
    let w = Tensor::made(w, [shape[2], product.signature.paths().len()])?;
    Ok(Made { c: Tensor::made(c, shape)?, d: Some(Tensor::made(d, shape)?), w: Some(w) })
}
