//! Functions of tensors have the texts of functions of expressions, which the sweeps run: nothing is compiled for a device.

use tilewise::ops::Function;
use tilewise::planning::ops::{TensorCall, of_expressions, real_calls, tensor_calls};
use tilewise::{Element, Gpu, Tensor, bf16, f16, ops};

/// The text of the only kernel of an operation.
pub(crate) fn kernel_text<T: Element>(gpu: &Gpu, op: impl FnOnce() -> tilewise::Result<Tensor<T>>) -> String {
    let (found, plans) = gpu.plans_of(op);
    found.unwrap();
    assert_eq!((plans.len(), plans[0].steps().len()), (1, 1));
    plans[0].steps()[0].kernel.specialize().unwrap()
}

/// Functions of tensors have the texts of the functions of expressions, which other tests run. Returns how many were compared.
fn assert_of_expressions<T: Element>(calls: Vec<(Function, TensorCall<T>)>) -> usize {
    let gpu = support::noop();
    let x = gpu.tensor(&[T::from_f64(1.0), T::from_f64(2.0)], [2]).unwrap();
    let mask = gpu.tensor(&[1i8, 0], [2]).unwrap();
    let mut compared = 0;
    for (function, call) in calls {
        let text = |op: &dyn Fn() -> tilewise::Result<Tensor<T>>| kernel_text(&gpu, op);
        let of_masks = |op: &dyn Fn() -> tilewise::Result<Tensor<i8>>| kernel_text(&gpu, op);
        let (found, want) = match call {
            TensorCall::One(op) => {
                (text(&|| op(&x)), text(&|| ops::map(&[&x], |[a]| of_expressions(function, [&a; 3]))))
            }
            TensorCall::Two(op) => (
                text(&|| op(&x, &x)),
                text(&|| ops::map(&[&x, &x], |[a, b]| of_expressions(function, [&a, &b, &a]))),
            ),
            TensorCall::Three(op) => (
                text(&|| op(&x, &x, &x)),
                text(&|| ops::map(&[&x, &x, &x], |[a, b, c]| of_expressions(function, [&a, &b, &c]))),
            ),
            TensorCall::Compare(op) => (
                of_masks(&|| op(&x, &x)),
                of_masks(&|| ops::map(&[&x, &x], |[a, b]| of_expressions(function, [&a, &b, &a]))),
            ),
            TensorCall::Mask(op) => (
                of_masks(&|| op(&mask)),
                of_masks(&|| ops::map(&[&mask], |[a]| of_expressions(function, [&a; 3]))),
            ),
            TensorCall::Masks(op) => (
                of_masks(&|| op(&mask, &mask)),
                of_masks(&|| ops::map(&[&mask, &mask], |[a, b]| of_expressions(function, [&a, &b, &a]))),
            ),
        };
        assert_eq!(found, want, "{function} of {}", T::DTYPE);
        compared += 1;
    }
    compared
}

#[test]
fn functions_of_tensors_are_those_of_expressions() {
    let of_f32 = assert_of_expressions(real_calls::<f32>()) + assert_of_expressions(tensor_calls::<f32>());
    let of_f16 = assert_of_expressions(real_calls::<f16>()) + assert_of_expressions(tensor_calls::<f16>());
    let of_bf16 = assert_of_expressions(real_calls::<bf16>()) + assert_of_expressions(tensor_calls::<bf16>());
    let of_i32 = assert_of_expressions(tensor_calls::<i32>());
    let of_i8 = assert_of_expressions(tensor_calls::<i8>());
    println!("{of_f32} functions of f32, {of_f16} of f16, {of_bf16} of bf16, {of_i32} of i32, {of_i8} of i8");
    assert!(of_f32 >= 33 && of_f16 == of_f32 && of_bf16 == of_f32, "{of_f32}, {of_f16}, {of_bf16}");
    assert!(of_i32 >= 19 && of_i8 == of_i32, "{of_i32}, {of_i8}");
}

/// Operators of tensors are functions of them.
#[test]
fn operators_have_the_texts_of_functions() {
    let gpu = support::noop();
    let x = gpu.tensor(&[1.0f32, 2.0], [2]).unwrap();
    let text = |op: &dyn Fn() -> tilewise::Result<Tensor<f32>>| kernel_text(&gpu, op);
    assert_eq!(text(&|| -&x), text(&|| ops::neg(&x)));
    assert_eq!(text(&|| &x + &x), text(&|| ops::add(&x, &x)));
    assert_eq!(text(&|| &x - &x), text(&|| ops::sub(&x, &x)));
    assert_eq!(text(&|| &x * &x), text(&|| ops::mul(&x, &x)));
    assert_eq!(text(&|| &x / &x), text(&|| ops::div(&x, &x)));
}
