//! The operators `+ - * /` and unary minus of tensors, owned or borrowed. They return a `Result`, like the functions in
//! [`ops`](crate::ops).

use super::functions::{add, div, mul, neg, sub};
use crate::Result;
use crate::layout::{Element, Real};
use crate::tensor::Tensor;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// An operator of tensors, and of tensors and numbers.
macro_rules! operator {
    ($operator:ident, $function:ident, $elements:ident) => {
        operator!($operator, $function, $elements, a: &Tensor<T>, b: &Tensor<T>, (a, b));
        operator!($operator, $function, $elements, a: &Tensor<T>, b: Tensor<T>, (a, &b));
        operator!($operator, $function, $elements, a: Tensor<T>, b: &Tensor<T>, (&a, b));
        operator!($operator, $function, $elements, a: Tensor<T>, b: Tensor<T>, (&a, &b));
        operator!($operator, $function, $elements, f32);
        operator!($operator, $function, $elements, i32);
    };
    ($operator:ident, $function:ident, $elements:ident, $number:ident) => {
        operator!($operator, $function, $elements, a: &Tensor<T>, b: $number, (a, b));
        operator!($operator, $function, $elements, a: Tensor<T>, b: $number, (&a, b));
        operator!($operator, $function, $elements, a: $number, b: &Tensor<T>, (a, b));
        operator!($operator, $function, $elements, a: $number, b: Tensor<T>, (a, &b));
    };
    ($operator:ident, $function:ident, $elements:ident, $a:ident: $left:ty, $b:ident: $right:ty, $operands:tt) => {
        impl<T: $elements> $operator<$right> for $left {
            type Output = Result<Tensor<T>>;

            fn $function(self, $b: $right) -> Self::Output {
                let $a = self;
                $function $operands
            }
        }
    };
}

operator!(Add, add, Element);
operator!(Sub, sub, Element);
operator!(Mul, mul, Element);
operator!(Div, div, Real);

impl<T: Element> Neg for &Tensor<T> {
    type Output = Result<Tensor<T>>;

    fn neg(self) -> Self::Output {
        neg(self)
    }
}

impl<T: Element> Neg for Tensor<T> {
    type Output = Result<Tensor<T>>;

    fn neg(self) -> Self::Output {
        neg(&self)
    }
}
