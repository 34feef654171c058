//! Calls of the functions of elements, which the table lists.

use tilewise::planning::ops::{TensorCall, real_calls, tensor_calls};
use tilewise::{Result, Tensor};

/// A mask of the shape of a tensor that takes no memory.
fn mask(of: &Tensor<f32>) -> Tensor<i8> {
    let one = of.gpu().zeros::<i8>([1]).unwrap();
    one.as_strided(of.shape(), &vec![0; of.shape().len()], 0).unwrap()
}

fn calls(a: &Tensor<f32>, b: &Tensor<f32>, are_several: bool) -> Vec<(&'static str, Result<()>)> {
    let all = tensor_calls().into_iter().chain(real_calls());
    let of = |call| match call {
        TensorCall::One(op) => op(a).map(drop),
        TensorCall::Two(op) => op(a, b).map(drop),
        TensorCall::Three(op) => op(a, b, a).map(drop),
        TensorCall::Compare(op) => op(a, b).map(drop),
        TensorCall::Mask(op) => op(&mask(a)).map(drop),
        TensorCall::Masks(op) => op(&mask(a), &mask(b)).map(drop),
    };
    let is_taken =
        |call: &TensorCall<f32>| are_several != matches!(call, TensorCall::One(_) | TensorCall::Mask(_));
    all.filter(|(_, call)| is_taken(call)).map(|(function, call)| (function.name(), of(call))).collect()
}

/// What functions of one value make of a tensor, with their names.
pub(super) fn of_one(a: &Tensor<f32>) -> Vec<(&'static str, Result<()>)> {
    calls(a, a, false)
}

/// What functions of several values make of two tensors, with their names.
pub(super) fn of_several(a: &Tensor<f32>, b: &Tensor<f32>) -> Vec<(&'static str, Result<()>)> {
    calls(a, b, true)
}
