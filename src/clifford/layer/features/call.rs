//! Checks the operands of functions with parameters for each feature, and runs them on the device.

use super::problem::{FeatureFunction, FeaturesProblem};
use crate::clifford::algebra::blades::Blades;
use crate::clifford::algebra::signature::Signature;
use crate::clifford::batch::multivectors::Multivectors;
use crate::clifford::layer::row_tensors::{check_same_rows, check_signature, to_rows};
use crate::layout::{Layout, Real};
use crate::tensor::Tensor;
use crate::{Error, Result};

/// Checks that a parameter has the axes (features, `trailing`..).
pub(in super::super) fn check_parameter<T: Real>(
    function: FeatureFunction,
    signature: Signature,
    parameter: &Tensor<T>,
    trailing: &[usize],
) -> Result<()> {
    let op = function.name();
    check_signature(op, signature)?;
    match parameter.shape() {
        [features, rest @ ..] if *features > 0 && rest == trailing => Ok(()),
        shape => {
            let rule = match trailing {
                [] => "the gains must be (features), with at least one feature",
                _ => "the parameters must be (features, grades), with every grade of the algebra",
            };
            Err(Error::shapes(op, rule, shape, trailing))
        }
    }
}

/// The operand as (blade, row, feature). Checks that it has the features of the parameter.
pub(in super::super) fn operand<T: Real>(
    function: FeatureFunction,
    signature: Signature,
    x: &Multivectors<T>,
    parameter: &Tensor<T>,
) -> Result<Tensor<T>> {
    let op = function.name();
    parameter.same_gpu(op, x.tensor())?;
    let rows = to_rows(op, signature, x)?;
    if rows.shape()[2] == parameter.shape()[0] {
        return Ok(rows);
    }
    let rule = "the operand must have the number of features that the layer has parameters for";
    Err(Error::shapes(op, rule, &x.positions(), parameter.shape()))
}

/// The operand and the gradient as (blade, row, feature). Checks that both have the same blades and positions.
pub(in super::super) fn operands<T: Real>(
    function: FeatureFunction,
    signature: Signature,
    [x, g]: [&Multivectors<T>; 2],
    parameter: &Tensor<T>,
) -> Result<[Tensor<T>; 2]> {
    let rows = operand(function, signature, x, parameter)?;
    check_same_rows(function.name(), x, g)?;
    Ok([rows, operand(function, signature, g, parameter)?])
}

/// Computes a function of `x` (blade, row, feature) in one launch.
pub(in super::super) fn forward<T: Real>(
    function: FeatureFunction,
    blades: &Blades,
    x: &Tensor<T>,
    parameters: &[&Tensor<T>],
) -> Result<Tensor<T>> {
    let layouts: Vec<&Layout> = parameters.iter().map(|parameter| parameter.layout()).collect();
    let problem = FeaturesProblem::new(function, blades, x.layout(), None, &layouts, T::DTYPE)?;
    let inputs: Vec<_> = [x].into_iter().chain(parameters.iter().copied()).map(Tensor::view).collect();
    Tensor::computed(x.gpu(), &problem, &inputs, &[], x.shape())
}

/// Computes the gradients of a function with respect to `x` and its parameters, from the gradient `g` of its result. A
/// second launch sums the gradients of the parameters over strips of rows, in a fixed order. They are (features, grades
/// of all parameters).
pub(in super::super) fn backward<T: Real>(
    function: FeatureFunction,
    blades: &Blades,
    [x, g]: [&Tensor<T>; 2],
    parameters: &[&Tensor<T>],
) -> Result<(Tensor<T>, Tensor<f32>)> {
    let layouts: Vec<&Layout> = parameters.iter().map(|parameter| parameter.layout()).collect();
    let problem = FeaturesProblem::new(function, blades, x.layout(), Some(g.layout()), &layouts, T::DTYPE)?;
    let inputs: Vec<_> = [x, g].into_iter().chain(parameters.iter().copied()).map(Tensor::view).collect();
    let [c, dparameters] = x.gpu().compute(&problem, &inputs, &[])?;
    Ok((Tensor::from_output(c, x.shape())?, Tensor::from_output(dparameters, &problem.sums()[1..])?))
}
