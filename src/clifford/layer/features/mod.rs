//! Functions of multivectors that have parameters for each feature: normalization, layer norm, silu, and their gradients.

mod body;
mod kernel;
mod plan;
mod problem;

pub use problem::{FeatureFunction, FeaturesDims, FeaturesProblem, Pass};

use crate::Result;
use crate::clifford::Blades;
use crate::layout::{Layout, Real};
use crate::tensor::Tensor;

/// A function of `x` (blade, row, feature) on the device, one launch.
pub(super) fn forward<T: Real>(
    function: FeatureFunction,
    blades: &Blades,
    x: &Tensor<T>,
    parameters: &[&Tensor<T>],
) -> Result<Tensor<T>> {
    let layouts: Vec<&Layout> = parameters.iter().map(|parameter| parameter.layout()).collect();
    let problem = FeaturesProblem::new(function, blades, x.layout(), None, &layouts, T::DTYPE)?;
    let inputs: Vec<_> = [x].into_iter().chain(parameters.iter().copied()).map(Tensor::view).collect();
    let [c] = x.gpu().make(&problem, &inputs, &[])?;
    Tensor::made(c, x.shape())
}

/// The gradients of a function with respect to `x` and its parameters, from `g`: one launch, and one that sums the latter
/// over strips of rows, in a fixed order. Those of parameters are (features, parts of all).
pub(super) fn backward<T: Real>(
    function: FeatureFunction,
    blades: &Blades,
    [x, g]: [&Tensor<T>; 2],
    parameters: &[&Tensor<T>],
) -> Result<(Tensor<T>, Tensor<f32>)> {
    let layouts: Vec<&Layout> = parameters.iter().map(|parameter| parameter.layout()).collect();
    let problem = FeaturesProblem::new(function, blades, x.layout(), Some(g.layout()), &layouts, T::DTYPE)?;
    let inputs: Vec<_> = [x, g].into_iter().chain(parameters.iter().copied()).map(Tensor::view).collect();
    let [c, of_parameters] = x.gpu().make(&problem, &inputs, &[])?;
    Ok((Tensor::made(c, x.shape())?, Tensor::made(of_parameters, &problem.sums()[1..])?))
}
