//! Functions of tensors have the texts of functions of expressions, which the sweeps run: nothing is compiled for a device.

use crate::functions::{Binary, Unary, of_all, of_expressions};
use tilewise::ops::Function;
use tilewise::{Element, Gpu, Tensor, ops};

/// The text of the only kernel of an operation.
pub(crate) fn kernel_text<T: Element>(gpu: &Gpu, op: impl FnOnce() -> tilewise::Result<Tensor<T>>) -> String {
    let (found, plans) = gpu.plans_of(op);
    found.unwrap();
    assert_eq!((plans.len(), plans[0].steps().len()), (1, 1));
    plans[0].steps()[0].kernel.specialize().unwrap()
}

/// A function of tensors has the text of the function of expressions, which other tests run.
fn assert_of_expressions<T: Element>(unary: &[(Function, Unary<T>)], binary: &[(Function, Binary<T>)]) {
    let gpu = support::noop();
    let x = gpu.tensor(&[T::from_f64(1.0), T::from_f64(2.0)], [2]).unwrap();
    for &(function, op) in unary {
        let by_map = || ops::map::<T, 1>(&[&x], |[a]| of_expressions(function, [&a, &a, &a]));
        assert_eq!(kernel_text(&gpu, || op(&x)), kernel_text(&gpu, by_map), "{function} of {}", T::DTYPE);
    }
    for &(function, op) in binary {
        let by_map = || ops::map::<T, 2>(&[&x, &x], |[a, b]| of_expressions(function, [&a, &b, &a]));
        assert_eq!(kernel_text(&gpu, || op(&x, &x)), kernel_text(&gpu, by_map), "{function} of {}", T::DTYPE);
    }
}

#[test]
fn functions_of_tensors_are_those_of_expressions() {
    let unary: [(Function, Unary<f32>); 12] = [
        (Function::Sqrt, ops::sqrt),
        (Function::Rsqrt, ops::rsqrt),
        (Function::Exp, ops::exp),
        (Function::Log, ops::log),
        (Function::Recip, ops::recip),
        (Function::Floor, ops::floor),
        (Function::Ceil, ops::ceil),
        (Function::Round, ops::round),
        (Function::Sin, ops::sin),
        (Function::Cos, ops::cos),
        (Function::Tanh, ops::tanh),
        (Function::Sigmoid, ops::sigmoid),
    ];
    let binary: [(Function, Binary<f32>); 2] =
        [(Function::Div, |x, y| x / y), (Function::Pow, |x, y| ops::pow(x, y))];
    assert_of_expressions(&unary, &binary);
    let (unary, binary) = of_all::<f32>();
    assert_of_expressions(&unary, &binary);
    let (unary, binary) = of_all::<i32>();
    assert_of_expressions(&unary, &binary);
    let (unary, binary) = of_all::<i8>();
    assert_of_expressions(&unary, &binary);
}
