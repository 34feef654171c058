//! The operators `+ - * /` and unary minus of tensors. They return a `Result`, as the functions of the same meaning do.

use super::arithmetic::{add, div, mul, sub};
use super::unary::neg;
use crate::Result;
use crate::layout::{Element, Real};
use crate::tensor::Tensor;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// An operator of tensors, and of tensors and numbers.
macro_rules! operator {
    ($operator:ident, $method:ident, $elements:ident) => {
        impl<T: $elements> $operator for &Tensor<T> {
            type Output = Result<Tensor<T>>;

            fn $method(self, other: Self) -> Self::Output {
                $method(self, other)
            }
        }

        operator!($operator, $method, $elements, f32);
        operator!($operator, $method, $elements, i32);
    };
    ($operator:ident, $method:ident, $elements:ident, $number:ty) => {
        impl<T: $elements> $operator<$number> for &Tensor<T> {
            type Output = Result<Tensor<T>>;

            fn $method(self, number: $number) -> Self::Output {
                $method(self, number)
            }
        }

        impl<T: $elements> $operator<&Tensor<T>> for $number {
            type Output = Result<Tensor<T>>;

            fn $method(self, tensor: &Tensor<T>) -> Self::Output {
                $method(self, tensor)
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
