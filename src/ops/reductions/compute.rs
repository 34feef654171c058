//! Runs reductions.

use crate::error::call;
use crate::gpu::Gpu;
use crate::layout::Element;
use crate::ops::reduce::axes::{Axes, split};
use crate::ops::{ReduceFunction, ReduceProblem};
use crate::tensor::Tensor;
use crate::{Error, Result};

/// A reduction along a set of axes, in a new tensor.
pub(super) fn reduce<T: Element, U: Element>(
    function: ReduceFunction,
    a: &Tensor<T>,
    axes: &Axes,
) -> Result<Tensor<U>> {
    call(function.op(), || {
        T::DTYPE.check_computed(function.op())?;
        let reduced = axes.of(function.op(), a.layout())?;
        let (shape, count) = split(a.layout(), &reduced);
        if count == 0 && function.of_nothing().is_none() {
            let rule = "the axes that are reduced must have an element to choose";
            return Err(Error::shape(function.op(), rule, a.shape()));
        }
        if shape.contains(&0) {
            return a.gpu().empty(shape);
        }
        let is_undefined = matches!(function, ReduceFunction::Variance { correction } if count <= correction);
        if count == 0 || is_undefined {
            let value = if is_undefined { f64::NAN } else { function.of_nothing().unwrap_or(f64::NAN) };
            return constant(a.gpu(), U::from_f64(value), &shape);
        }
        let problem = ReduceProblem::along(function, a.layout(), &reduced, T::DTYPE)?;
        Tensor::computed(a.gpu(), &problem, &[a.view()], &[], &shape)
    })
}

/// A new tensor of equal elements, without an upload.
fn constant<T: Element>(gpu: &Gpu, value: T, shape: &[usize]) -> Result<Tensor<T>> {
    gpu.constant_tensor(value)?.as_strided(shape, &vec![0; shape.len()], 0)?.contiguous()
}
