//! Runs a function of rows on the device.

use super::problem::{RowFunction, RowOperandLayouts, RowProblem};
use crate::clifford::algebra::blades::Blades;
use crate::clifford::layer::layer_product::LayerProduct;
use crate::gpu::check_same_gpu;
use crate::layout::Real;
use crate::tensor::Tensor;
use crate::{Gpu, Result};

/// The tensors that a function of rows reads: X, Y and the gradient G (blade, row, feature), and the weights W
/// (feature, path).
#[derive(Clone, Copy)]
pub(in super::super) struct RowInputs<'a, T: Real> {
    pub(in super::super) x: &'a Tensor<T>,
    pub(in super::super) y: Option<&'a Tensor<T>>,
    pub(in super::super) g: Option<&'a Tensor<T>>,
    pub(in super::super) w: Option<&'a Tensor<T>>,
}

/// The results of a function of rows, contiguous and in the shapes of the operands.
pub(in super::super) struct RowOutputs<T: Real> {
    /// The result; in a backward pass, the gradient of X.
    pub(in super::super) c: Tensor<T>,
    /// The gradient of Y.
    pub(in super::super) d: Option<Tensor<T>>,
    /// The gradient of the weights.
    pub(in super::super) w: Option<Tensor<f32>>,
}

impl<T: Real> RowInputs<'_, T> {
    fn gpu(&self, op: &'static str) -> Result<&Gpu> {
        let gpu = self.x.gpu();
        let others = [self.y, self.g, self.w];
        others.into_iter().flatten().try_for_each(|other| check_same_gpu(op, gpu, other.gpu()))?;
        Ok(gpu)
    }

    /// The checked problem.
    pub(in super::super) fn problem(
        &self,
        function: RowFunction,
        product: LayerProduct,
        blades: &Blades,
    ) -> Result<RowProblem> {
        let [y, g, w] = [self.y, self.g, self.w].map(|tensor| tensor.map(Tensor::layout));
        RowProblem::new(
            function,
            product,
            blades,
            RowOperandLayouts { x: self.x.layout(), y, g, w },
            T::DTYPE,
        )
    }
}

/// Computes a function of rows.
pub(in super::super) fn run<T: Real>(
    function: RowFunction,
    product: LayerProduct,
    blades: &Blades,
    inputs: RowInputs<'_, T>,
) -> Result<RowOutputs<T>> {
    let gpu = inputs.gpu(function.name())?;
    let problem = inputs.problem(function, product, blades)?;
    let shape = inputs.x.shape();
    let inputs = [Some(inputs.x), inputs.y, inputs.g, inputs.w].into_iter().flatten();
    let inputs: Vec<_> = inputs.map(Tensor::view).collect();
    if function != RowFunction::SteerableBackward {
        let c = Tensor::computed(gpu, &problem, &inputs, &[], shape)?;
        return Ok(RowOutputs { c, d: None, w: None });
    }
    let [c, d, w] = gpu.compute(&problem, &inputs, &[])?;
    let w = Tensor::from_output(w, [shape[2], product.signature.path_count()])?;
    Ok(RowOutputs { c: Tensor::from_output(c, shape)?, d: Some(Tensor::from_output(d, shape)?), w: Some(w) })
}
