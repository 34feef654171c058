//! Operands of other shapes and types, reductions of nothing, and parameters out of their range.

use super::Said;
use std::marker::PhantomData;
use tilewise::ops::{
    self, BatchNorm, CrossEntropy, GroupNorm, LayerNorm, Reduction, RmsNorm, RunningStatistics, Softmax,
    Targets,
};
use tilewise::planning::ops::{CumsumProblem, ReduceFunction, ReduceProblem};
use tilewise::{Activation, DType, Real, linear_backward};

#[test]
fn shapes_that_do_not_go_together_or_are_too_large() {
    let mut said = Said::new();
    let (x, y) = (said.tensor(&[3, 4]), said.tensor(&[5, 6]));
    let six = said.tensor(&[1; 6]);
    said.says(|| ops::concat::<f32>(&[], 0), "concat: there must be at least one tensor", "[0]");
    said.says(|| ops::stack::<f32>(&[], 0), "stack: there must be at least one tensor", "[0]");
    said.says(
        || ops::concat(&[&x, &y], 0),
        "concat: the shapes must be equal, except along the axis",
        "[3, 4] and [5, 6]",
    );
    said.says(
        || ops::concat(&[&x, &six], 0),
        "concat: the shapes must be equal, except along the axis",
        "[3, 4] and [1, 1, 1, 1, 1, 1]",
    );
    said.says(|| ops::stack(&[&x, &y], 0), "stack: the shapes must be equal", "[3, 4] and [5, 6]");
    said.says(|| ops::stack(&[&six], 0), "stack: the tensors must have at most 5 axes", "[1, 1, 1, 1, 1, 1]");
    said.says(
        || ops::pad(&x, &[(1, 1)], 0.0),
        "pad: there must be a pair of numbers for each axis",
        "[3, 4] and [1]",
    );
    said.says(
        || ops::pad(&x, &[(usize::MAX, 1), (0, 0)], 0.0),
        "pad: the number of elements must not overflow",
        "[18446744073709551615, 4] and [576460752303423487]",
    );
    said.says(
        || ops::repeat(&x, 0, usize::MAX),
        "repeat: the number of elements must not overflow",
        "[18446744073709551615, 4] and [576460752303423487]",
    );
    said.says(
        || x.broadcast_to([3, 5]),
        "broadcast_to: each axis must have the new extent or 1, counted from the last axis",
        "[3, 4] and [3, 5]",
    );
    said.says(
        || x.broadcast_to([4]),
        "broadcast_to: the new shape must have at least as many axes as the tensor",
        "[3, 4] and [4]",
    );
    said.says(
        || x.broadcast_to([1, 1, 1, 1, 1, 3, 4]),
        "broadcast_to: a tensor has at most 6 axes",
        "[1, 1, 1, 1, 1, 3, 4] and [7]",
    );
    said.says(
        || x.broadcast_to([usize::MAX, 3, 4]),
        "broadcast_to: the number of elements must not overflow",
        "[18446744073709551615, 3, 4] and [576460752303423487]",
    );
    said.says(|| six.unsqueeze(0), "unsqueeze: a tensor has at most 6 axes", "[1, 1, 1, 1, 1, 1] and [0]");
    said.says(|| &x + &y, "add: extents must be equal or 1, counted from the last axis", "[3, 4] and [5, 6]");
    said.says(
        || ops::clamp(&x, 0.0, &y),
        "clamp: extents must be equal or 1, counted from the last axis",
        "[3, 4] and [5, 6]",
    );
    said.says(
        || ops::map::<f32, 2>(&[&x, &y], |[x, y]| x.exp() * y),
        "map: extents must be equal or 1, counted from the last axis",
        "[3, 4] and [5, 6]",
    );
    let mask = said.gpu.zeros::<i8>([5, 6]).unwrap();
    said.says(
        || ops::select(&mask, &x, 0.0),
        "select: extents must be equal or 1, counted from the last axis",
        "[5, 6] and [3, 4]",
    );
    said.says(
        || ops::and(&mask, &mask.slice(0, ..2).unwrap()),
        "and: extents must be equal or 1, counted from the last axis",
        "[5, 6] and [2, 6]",
    );
    said.says(
        || Softmax::new(&x, 1).mask(&y).run_log(),
        "log_softmax: the mask must have the shape of x, or extents of 1, counted from the last axis",
        "[3, 4] and [5, 6]",
    );
    said.says(
        || ops::softmax_backward(&x, &y, 1),
        "softmax_backward: the gradient must have the shape of y",
        "[3, 4] and [5, 6]",
    );
    said.says(
        || ops::log_softmax_backward(&x, &y, 1),
        "log_softmax_backward: the gradient must have the shape of y",
        "[3, 4] and [5, 6]",
    );
    said.none();
}

#[test]
fn reductions_and_losses_of_nothing() {
    let mut said = Said::new();
    let none = said.tensor(&[3, 0]);
    said.says(
        || ops::max(&none, 1),
        "max: the axes that are reduced must have an element to choose",
        "[3, 0]",
    );
    said.says(
        || ops::min(&none, ..),
        "min: the axes that are reduced must have an element to choose",
        "[3, 0]",
    );
    said.says(
        || ops::argmax(&none, 1),
        "argmax: the axes that are reduced must have an element to choose",
        "[3, 0]",
    );
    said.says(
        || ops::argmin(&none, 1),
        "argmin: the axes that are reduced must have an element to choose",
        "[3, 0]",
    );
    said.says(
        || ops::layer_norm(&none, LayerNorm::default()),
        "layer_norm: the normalised axes must not be empty",
        "[3, 0]",
    );
    said.says(
        || ops::group_norm(&none, GroupNorm::new(1)),
        "group_norm: the normalised axes must not be empty",
        "[3, 0]",
    );
    said.says(
        || ops::batch_norm_training(&none.t(), None, BatchNorm::default()),
        "batch_norm_training: there must be at least two rows, which have a variance",
        "[0, 3]",
    );
    said.says(
        || ops::mse(&none, &none, Reduction::Mean),
        "mse: the mean of no elements does not exist, but `Reduction::Sum` is 0",
        "[3, 0]",
    );
    let ids = said.integers(&[3]);
    said.says(
        || ops::cross_entropy(&none, &ids),
        "cross_entropy: there must be at least one class",
        "[3, 0]",
    );
    said.says(
        || ops::cross_entropy(&none.t(), &ids.slice(0, ..0).unwrap()),
        "cross_entropy: the mean of no rows does not exist, but `Reduction::Sum` is 0",
        "[0, 3]",
    );
    assert_eq!(ops::sum(&none, 1).unwrap().shape(), [3]);
    said.none();
}

#[test]
fn parameters_of_norms_and_losses() {
    let mut said = Said::new();
    let (x, y, row) = (said.tensor(&[3, 4]), said.tensor(&[5, 6]), said.tensor(&[3]));
    let with_gamma = LayerNorm { gamma: Some(&row), ..LayerNorm::default() };
    said.says(
        || ops::layer_norm(&x, with_gamma),
        "layer_norm: gamma and beta must have the shape of the normalised axes",
        "[3] and [4]",
    );
    said.says(
        || ops::layer_norm_residual(&x, &y, LayerNorm::default()),
        "layer_norm_residual: the residual must have the shape of the operand",
        "[3, 4] and [5, 6]",
    );
    said.says(
        || ops::rms_norm(&x, RmsNorm { eps: -1.0, ..RmsNorm::default() }),
        "rms_norm: eps: it must be a finite number of at least 0, not -1",
        "",
    );
    said.says(
        || ops::group_norm(&x, GroupNorm::new(3)),
        "group_norm: the number of groups must divide the channels, the last axis",
        "[3, 4] and [3]",
    );
    said.says(
        || ops::group_norm(&x, GroupNorm::new(0)),
        "group_norm: the number of groups must divide the channels, the last axis",
        "[3, 4] and [0]",
    );
    said.says(
        || ops::group_norm(&row, GroupNorm::new(1)),
        "group_norm: the operand must have channels as its last axis, and before them rows",
        "[3]",
    );
    said.says(
        || ops::group_norm(&x, GroupNorm { gamma: Some(&row), ..GroupNorm::new(2) }),
        "group_norm: gamma and beta must have as many elements as there are channels",
        "[3] and [4]",
    );
    said.says(
        || ops::batch_norm_training(&x, None, BatchNorm { momentum: f32::NAN, ..BatchNorm::default() }),
        "batch_norm_training: momentum: it must be a finite number of at least 0, not NaN",
        "",
    );
    said.says(
        || ops::batch_norm_training(&x.slice(0, ..1).unwrap(), None, BatchNorm::default()),
        "batch_norm_training: there must be at least two rows, which have a variance",
        "[1, 4]",
    );
    let running = RunningStatistics { mean: row.clone(), variance: row.clone() };
    said.says(
        || ops::batch_norm(&x, &running, BatchNorm::default()),
        "batch_norm: the running mean must have a number for each channel, the last axis of the operand",
        "[3] and [4]",
    );
    let normed = ops::layer_norm_with_statistics(&x, LayerNorm::default()).unwrap();
    said.says(
        || ops::layer_norm_backward(&x, &normed, LayerNorm::default(), &y),
        "layer_norm_backward: the gradient must have the shape of the operand",
        "[5, 6] and [3, 4]",
    );
    said.says(
        || ops::l1(&x, &y, Reduction::Sum),
        "l1: the target must have the shape of x",
        "[5, 6] and [3, 4]",
    );
    said.says(
        || ops::mse_and_gradient(&x, &x, Reduction::None, &y),
        "mse_and_gradient: the gradient with respect to the losses must have their shape",
        "[5, 6] and [3, 4]",
    );
    said.says(
        || ops::mse_and_gradient(&x, &x, Reduction::Mean, &y),
        "mse_and_gradient: the gradient with respect to the loss must have one element",
        "[5, 6] and []",
    );
    said.says(
        || ops::huber(&x, &x, 0.0, Reduction::Mean),
        "huber: delta: it must be positive and finite, and is 0",
        "",
    );
    said.says(
        || ops::bce_with_logits(&x, &x, Some(&row), Reduction::Mean),
        "bce_with_logits: pos_weight must have the shape of x, or extents of 1, counted from the last axis",
        "[3] and [3, 4]",
    );
    let (ids, five) = (said.integers(&[3]), said.integers(&[5]));
    said.says(
        || ops::cross_entropy(&x, &five),
        "cross_entropy: the targets must have the axes of the logits without the last",
        "[5] and [3, 4]",
    );
    said.says(
        || ops::cross_entropy(&x, Targets::Probabilities(&y)),
        "cross_entropy: the probabilities must have the shape of the logits",
        "[5, 6] and [3, 4]",
    );
    said.says(
        || CrossEntropy::new().class_weights(&row).run(&x, &ids),
        "cross_entropy: there must be a weight for each class, the last axis of the logits",
        "[3] and [3, 4]",
    );
    said.says(
        || CrossEntropy::new().label_smoothing(2.0).run(&x, &ids),
        "cross_entropy: the label smoothing: it must be from 0 to 1, and is 2",
        "",
    );
    said.says(
        || CrossEntropy::new().ignore_index(1).run(&x, &x),
        "cross_entropy: the class to ignore: it is 1, but the targets are probabilities: \
         a row whose probabilities are 0 has no loss",
        "",
    );
    said.says(
        || linear_backward(&x, &y, None, Activation::None, &x),
        "linear_backward: the weight must be (out, in) with in = 4, the last axis of x",
        "[5, 6] and [3, 4]",
    );
    said.says(
        || linear_backward(&x, &x, None, Activation::None, &y),
        "linear_backward: the gradient and the sums must have the shape of the output: that of x, \
         with the layer's outputs last",
        "[5, 6] and [3, 4]",
    );
    said.none();
}

#[test]
fn types_that_an_operation_does_not_take() {
    let mut said = Said::new();
    let (x, n) = (said.tensor(&[3, 4]), said.integers(&[3, 4]));
    said.says(
        || ops::add::<f32>(1.0, 2.0),
        "add: the arguments: there must be a tensor among them: of numbers alone, Rust computes the value",
        "",
    );
    said.says(
        || &n * 1.5,
        "mul: the number: the elements are integers, and 1.5 is a real: write an integer, or cast",
        "",
    );
    said.says(
        || &x + 16_777_217,
        "add: the number: f32 does not hold 16777217 exactly: write the real that you mean",
        "",
    );
    said.says(
        || ops::map::<i32, 1>(&[&n], |[n]| n.sqrt()),
        "map: the expression: there is no sqrt of an integer; convert it with `to_real`",
        "",
    );
    said.says(
        || ops::map::<f32, 2>(&[&x, &n], |[x, n]| x + n),
        "map: the expression: there is no add of a real and an integer; convert one with \
         `to_real` or `to_integer`, or write `2.0` for `2`",
        "",
    );
    said.says(
        || ops::map::<i8, 1>(&[&x], |[x]| x.exp()),
        "map: the expression: its value is a real: convert it with `to_integer`, or store it as one",
        "",
    );
    // What takes reals only has no integers as operands, and its plans neither.
    const { assert!(Probe::<f32>::IS_REAL && !Probe::<i32>::IS_REAL && !Probe::<i8>::IS_REAL) };
    for (function, name) in [
        (ReduceFunction::Mean, "mean"),
        (ReduceFunction::Product, "prod"),
        (ReduceFunction::SumSquares, "sum_squares"),
        (ReduceFunction::Norm, "norm"),
        (ReduceFunction::MaxAbs, "max_abs"),
        (ReduceFunction::Variance { correction: 1 }, "var"),
    ] {
        let words = format!("{name}: the elements: they must be reals, not i32");
        said.says(|| ReduceProblem::new(function, n.layout(), &[1], DType::I32), &words, "");
    }
    let words = "cumsum: the elements: they must be reals, not i8";
    said.says(|| CumsumProblem::new(n.layout(), 1, DType::I8), words, "");
    said.none();
}

/// Whether a type is a [`Real`], as Rust finds a constant: that of the type if its bounds hold, or else that of the trait.
struct Probe<T>(PhantomData<T>);

trait OfAnyType {
    const IS_REAL: bool = false;
}

impl<T> OfAnyType for Probe<T> {}

impl<T: Real> Probe<T> {
    const IS_REAL: bool = true;
}
