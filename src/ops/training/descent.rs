//! The step of gradient descent.

use super::parameter_mut::ParameterMut;
use super::rate::Rate;
use crate::Result;
use crate::layout::Real;
use crate::ops::elementwise::functions::mul;
use crate::ops::elementwise::sub_assign;
use crate::tensor::Tensor;

/// Subtracts `rate` times its gradient from each parameter, in place; a shared parameter is copied first. Computed in f32
/// and rounded to `T`. If an error is found before the first parameter is written, no parameter changes.
pub(super) fn gradient_step<T: Real>(
    mut pairs: Vec<(String, ParameterMut<'_, T>, &Tensor<f32>)>,
    rate: Rate<'_>,
) -> Result<()> {
    let op = "descend";
    let Some((_, _, first)) = pairs.first() else { return Ok(()) };
    pairs.iter().try_for_each(|(_, parameter, _)| parameter.check_in_place(op))?;
    let rate = rate.on(op, first.gpu())?;
    let step = |gradient: &Tensor<f32>| mul(gradient, &rate)?.cast::<T>();
    let steps = pairs.iter().map(|(_, _, gradient)| step(gradient)).collect::<Result<Vec<_>>>()?;
    pairs.iter_mut().try_for_each(|(_, parameter, _)| parameter.own())?;
    let mut steps = pairs.iter_mut().zip(&steps);
    steps.try_for_each(|((_, parameter, _), step)| parameter.in_place(|own| sub_assign(own, step)))
}
