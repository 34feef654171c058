//! Operands of other shapes and types, reductions of nothing, and parameters out of their range.

use crate::words::said::Said;
use std::marker::PhantomData;
use tilewise::gemm::linear_backward;
use tilewise::ops::{
    self, BatchNorm, CrossEntropy, GroupNorm, LayerNorm, Normed, Reduction, RmsNorm, RunningStatistics,
    Softmax, Targets,
};
use tilewise::planning::ops::{CumsumProblem, ReduceFunction, ReduceProblem};
use tilewise::{Activation, DType, Real};

#[test]
fn shapes_that_do_not_go_together_or_are_too_large() {
    let mut said = Said::new();
    let (x, y) = (said.tensor(&[3, 4]), said.tensor(&[5, 6]));
    let six = said.tensor(&[1; 6]);
    said.says(|| ops::concat::<f32>(&[], 0));
    said.says(|| ops::stack::<f32>(&[], 0));
    said.says(|| ops::concat(&[&x, &y], 0));
    said.says(|| ops::concat(&[&x, &six], 0));
    said.says(|| ops::stack(&[&x, &y], 0));
    said.says(|| ops::stack(&[&six], 0));
    said.says(|| ops::pad(&x, &[(1, 1)], 0.0));
    said.says(|| ops::pad(&x, &[(usize::MAX, 1), (0, 0)], 0.0));
    said.says(|| ops::repeat(&x, 0, usize::MAX));
    said.says(|| x.broadcast_to([3, 5]));
    said.says(|| x.broadcast_to([4]));
    said.says(|| x.broadcast_to([1, 1, 1, 1, 1, 3, 4]));
    said.says(|| x.broadcast_to([usize::MAX, 3, 4]));
    said.says(|| six.unsqueeze(0));
    said.says(|| &x + &y);
    said.says(|| ops::clamp(&x, 0.0, &y));
    said.says(|| ops::map::<f32, 2>(&[&x, &y], |[x, y]| x.exp() * y));
    let mask = said.gpu.zeros::<i8>([5, 6]).unwrap();
    said.says(|| ops::select(&mask, &x, 0.0));
    said.says(|| ops::and(&mask, &mask.slice(0, ..2).unwrap()));
    said.says(|| Softmax::new(&x, 1).mask(&y).run_log());
    said.says(|| ops::softmax_backward(&x, &y, 1));
    said.says(|| ops::log_softmax_backward(&x, &y, 1));
    said.says(|| ops::pad(&x, &[(1 << 31, 0), (0, 0)], 0.0));
    let ids = said.integers(&[2]);
    said.says(|| ops::one_hot::<f32>(&ids, 1 << 31));
    said.says(|| x.broadcast_to([3, 1]));
    said.says(|| Softmax::new(&x, 1).mask(&y).run());
    // More elements than a kernel counts: an error of the operation, not of the view.
    let huge = said.tensor(&[1]).broadcast_to([1 << 31]).unwrap();
    said.says(|| ops::exp(&huge));
    said.compare();
}

#[test]
fn reductions_and_losses_of_nothing() {
    let mut said = Said::new();
    let none = said.tensor(&[3, 0]);
    said.says(|| ops::max(&none, 1));
    said.says(|| ops::min(&none, ..));
    said.says(|| ops::argmax(&none, 1));
    said.says(|| ops::argmin(&none, 1));
    said.says(|| LayerNorm::new().run(&none));
    said.says(|| GroupNorm::new(1).run(&none));
    said.says(|| BatchNorm::new().training(&none.t(), None));
    said.says(|| ops::mse(&none, &none, Reduction::Mean));
    let ids = said.integers(&[3]);
    said.says(|| ops::cross_entropy(&none, &ids));
    said.says(|| ops::cross_entropy(&none.t(), &ids.slice(0, ..0).unwrap()));
    assert_eq!(ops::sum(&none, 1).unwrap().shape(), [3]);
    said.says(|| RmsNorm::new().run(&none));
    said.says(|| GroupNorm::new(4).run(&none.reshape([3, 0, 4]).unwrap()));
    assert_eq!(ops::sum(&said.tensor(&[]), ..).unwrap().shape(), [0usize; 0]);
    assert_eq!(ops::mse(&none, &none, Reduction::None).unwrap().shape(), [3, 0]);
    let (sum, gradient) = ops::l1_and_gradient(&none, &none, Reduction::Sum, 1.0).unwrap();
    assert_eq!((sum.len(), gradient.shape()), (1, &[3, 0][..]));
    // No rows: no loss, and a sum of 0.
    let (rows, of_none) = (said.tensor(&[0, 6]), ids.slice(0, ..0).unwrap());
    let loss = |reduction| CrossEntropy::new().reduction(reduction);
    assert_eq!(loss(Reduction::None).run(&rows, &of_none).unwrap().loss.shape(), [0]);
    let (sum, gradient) = loss(Reduction::Sum).run_with_gradient(&rows, &of_none, 1.0).unwrap();
    assert_eq!((sum.loss.len(), gradient.shape()), (1, &[0, 6][..]));
    said.compare();
}

#[test]
fn parameters_of_norms_and_losses() {
    let mut said = Said::new();
    let (x, y, row) = (said.tensor(&[3, 4]), said.tensor(&[5, 6]), said.tensor(&[3]));
    let with_gamma = LayerNorm::new().gamma(&row);
    said.says(|| with_gamma.run(&x));
    said.says(|| LayerNorm::new().residual(&x, &y));
    said.says(|| RmsNorm::new().eps(-1.0).run(&x));
    said.says(|| GroupNorm::new(3).run(&x));
    said.says(|| GroupNorm::new(0).run(&x));
    said.says(|| GroupNorm::new(1).run(&row));
    said.says(|| GroupNorm::new(2).gamma(&row).run(&x));
    said.says(|| BatchNorm::new().momentum(f32::NAN).training(&x, None));
    said.says(|| BatchNorm::new().training(&x.slice(0, ..1).unwrap(), None));
    let running = RunningStatistics { mean: row.clone(), variance: row.clone() };
    said.says(|| BatchNorm::new().run(&x, &running));
    let normed = LayerNorm::new().with_statistics(&x).unwrap();
    said.says(|| LayerNorm::new().backward(&x, &normed, &y));
    said.says(|| ops::l1(&x, &y, Reduction::Sum));
    said.says(|| ops::mse_and_gradient(&x, &x, Reduction::None, &y));
    said.says(|| ops::mse_and_gradient(&x, &x, Reduction::Mean, &y));
    said.says(|| ops::huber(&x, &x, 0.0, Reduction::Mean));
    said.says(|| ops::bce_with_logits(&x, &x, Some(&row), Reduction::Mean));
    let (ids, five) = (said.integers(&[3]), said.integers(&[5]));
    said.says(|| ops::cross_entropy(&x, &five));
    said.says(|| ops::cross_entropy(&x, Targets::Probabilities(&y)));
    said.says(|| CrossEntropy::new().class_weights(&row).run(&x, &ids));
    said.says(|| CrossEntropy::new().label_smoothing(2.0).run(&x, &ids));
    said.says(|| CrossEntropy::new().ignore_index(1).run(&x, &x));
    said.says(|| linear_backward(&x, &y, None, Activation::None, &x));
    said.says(|| linear_backward(&x, &x, None, Activation::None, &y));
    said.says(|| LayerNorm::new().beta(&row).run(&x));
    for eps in [-1e-5, f32::NAN, f32::INFINITY] {
        said.says(|| LayerNorm::new().eps(eps).run(&x));
    }
    let of_other_rows = Normed { rstd: said.tensor(&[5]), ..LayerNorm::new().with_statistics(&x).unwrap() };
    said.says(|| LayerNorm::new().backward(&x, &of_other_rows, &x));
    said.says(|| BatchNorm::new().momentum(-0.1).training(&x, None));
    said.says(|| ops::mse(&x, &row, Reduction::Mean));
    said.says(|| ops::l1_and_gradient(&x, &row, Reduction::Mean, 1.0));
    for delta in [-1.0, f32::NAN, f32::INFINITY] {
        said.says(|| ops::huber(&x, &x, delta, Reduction::Mean));
        said.says(|| ops::huber_and_gradient(&x, &x, delta, Reduction::Mean, 1.0));
    }
    said.says(|| ops::bce_with_logits(&x, &x, Some(&x.unsqueeze(0).unwrap()), Reduction::Mean));
    let column = ids.unsqueeze(1).unwrap();
    said.says(|| ops::cross_entropy(&x, &column));
    said.says(|| ops::cross_entropy(&x.as_strided(&[], &[], 0).unwrap(), &ids));
    for smoothing in [-0.1, f32::NAN] {
        said.says(|| CrossEntropy::new().label_smoothing(smoothing).run(&x, &ids));
    }
    let new = CrossEntropy::new;
    said.says(|| new().run_with_gradient(&x, &five, 1.0));
    said.says(|| new().label_smoothing(2.0).run_with_gradient(&x, &ids, 1.0));
    said.says(|| new().class_weights(&row).run_with_gradient(&x, &ids, 1.0));
    said.says(|| new().run_with_gradient(&x, &ids, &row));
    said.says(|| new().reduction(Reduction::None).run_with_gradient(&x, &ids, &y));
    said.compare();
}

#[test]
fn types_that_an_operation_does_not_take() {
    let mut said = Said::new();
    let (x, n) = (said.tensor(&[3, 4]), said.integers(&[3, 4]));
    said.says(|| ops::add::<f32>(1.0, 2.0));
    said.says(|| &n * 1.5);
    said.says(|| &x + 16_777_217);
    said.says(|| ops::map::<i32, 1>(&[&n], |[n]| n.sqrt()));
    said.says(|| ops::map::<f32, 2>(&[&x, &n], |[x, n]| x + n));
    said.says(|| ops::map::<i8, 1>(&[&x], |[x]| x.exp()));
    // What takes reals only has no integers as operands, and its plans neither.
    const { assert!(Probe::<f32>::IS_REAL && !Probe::<i32>::IS_REAL && !Probe::<i8>::IS_REAL) };
    for function in [
        ReduceFunction::Mean,
        ReduceFunction::Product,
        ReduceFunction::SumSquares,
        ReduceFunction::Norm,
        ReduceFunction::MaxAbs,
        ReduceFunction::Variance { correction: 1 },
    ] {
        said.says(|| ReduceProblem::new(function, n.layout(), &[1], DType::I32));
    }
    said.says(|| CumsumProblem::new(n.layout(), 1, DType::I8));
    assert_eq!(ops::add(&n, 7).unwrap().shape(), [3, 4]);
    said.compare();
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
