//! A function of rows, with its operands.

use super::problem::{RowFunction, RowLayouts, RowProblem};
use crate::clifford::Blades;
use crate::clifford::layer::form::LayerProduct;
use crate::tensor::{Real, Tensor, View, check_same_gpu};
use crate::{Gpu, Result};

/// The operands of a function of rows: (blade, row, feature), and the weights (feature, path).
#[derive(Clone, Copy)]
pub(in super::super) struct Given<'a, T: Real> {
    pub(in super::super) x: &'a Tensor<T>,
    pub(in super::super) y: Option<&'a Tensor<T>>,
    pub(in super::super) g: Option<&'a Tensor<T>>,
    pub(in super::super) w: Option<&'a Tensor<T>>,
}

/// What a function of rows makes: without gaps, in the shapes of the operands.
pub(in super::super) struct Made<T: Real> {
    /// The result; of gradients, that of X.
    pub(in super::super) c: Tensor<T>,
    /// The gradient of Y.
    pub(in super::super) d: Option<Tensor<T>>,
    /// The gradient of the weights.
    pub(in super::super) w: Option<Tensor<f32>>,
}

impl<T: Real> Given<'_, T> {
    fn gpu(&self, op: &'static str) -> Result<&Gpu> {
        let gpu = self.x.gpu();
        let others = [self.y, self.g, self.w];
        others.into_iter().flatten().try_for_each(|other| check_same_gpu(op, gpu, other.gpu()))?;
        Ok(gpu)
    }

    /// What is to be computed.
    pub(in super::super) fn problem(
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
pub(in super::super) fn run<T: Real>(
    function: RowFunction,
    product: LayerProduct,
    blades: &Blades,
    given: Given<'_, T>,
) -> Result<Made<T>> {
    let gpu = given.gpu(function.name())?;
    let problem = given.problem(function, product, blades)?;
    let shape = given.x.shape();
    let c = gpu.empty(shape)?;
    let (mut d, mut w) = (None, None);
    if function == RowFunction::SteerableBackward {
        d = Some(gpu.empty(shape)?);
        w = Some(gpu.empty([shape[2], product.signature.paths().len()])?);
    }
    let made = [Some(c.view()), d.as_ref().map(Tensor::view), w.as_ref().map(Tensor::view)];
    let read = [Some(given.x), given.y, given.g, given.w].map(|tensor| tensor.map(Tensor::view));
    let operands: Vec<View<'_>> = made.into_iter().chain(read).flatten().collect();
    gpu.run(&problem, &operands, &[])?;
    Ok(Made { c, d, w })
}
