//! The functions of the rows as values: tests and the book's table go through all of them.

use super::expr::Expr;
use super::function::Function;
use super::functions::*;
use crate::Result;
use crate::layout::{Element, Real};
use crate::ops::table::function_rows;
use crate::tensor::Tensor;

type OfThree<T> = fn(&Tensor<T>, &Tensor<T>, &Tensor<T>) -> Result<Tensor<T>>;

/// A public function of tensors.
#[derive(Clone, Copy, Debug)]
pub enum TensorCall<T: Element> {
    /// Of one tensor.
    One(fn(&Tensor<T>) -> Result<Tensor<T>>),
    /// Of two.
    Two(fn(&Tensor<T>, &Tensor<T>) -> Result<Tensor<T>>),
    /// Of three.
    Three(OfThree<T>),
    /// A function that compares two tensors.
    Compare(fn(&Tensor<T>, &Tensor<T>) -> Result<Tensor<i8>>),
    /// Of a mask.
    Mask(fn(&Tensor<i8>) -> Result<Tensor<i8>>),
    /// Of two masks.
    Masks(fn(&Tensor<i8>, &Tensor<i8>) -> Result<Tensor<i8>>),
}

/// The function of tensors of a row, unless it has none or one of reals only.
macro_rules! tensor_call {
    (compared $name:ident $operands:tt) => {
        Some(TensorCall::Compare(|a, b| $name(a, b)))
    };
    (masks $name:ident ($a:ident)) => {
        Some(TensorCall::Mask($name))
    };
    (masks $name:ident ($a:ident, $b:ident)) => {
        Some(TensorCall::Masks($name))
    };
    (all $name:ident ($a:ident)) => {
        Some(TensorCall::One($name))
    };
    (all $name:ident ($a:ident, $b:ident)) => {
        Some(TensorCall::Two(|a, b| $name(a, b)))
    };
    (all $name:ident ($a:ident, $b:ident, $c:ident)) => {
        Some(TensorCall::Three(|a, b, c| $name(a, b, c)))
    };
    ($takes:ident $name:ident $operands:tt) => {
        None
    };
}

/// The function of tensors of a row of reals only.
macro_rules! real_call {
    (reals $($rest:tt)*) => {
        tensor_call!(all $($rest)*)
    };
    ($($rest:tt)*) => {
        None
    };
}

/// The method or the operator of a row.
macro_rules! expression {
    (neg $a:ident) => { -$a };
    (add $a:ident $b:ident) => { $a + $b };
    (sub $a:ident $b:ident) => { $a - $b };
    (mul $a:ident $b:ident) => { $a * $b };
    (div $a:ident $b:ident) => { $a / $b };
    ($name:ident $a:ident $($other:ident)*) => { $a.$name($($other),*) };
}

/// Generates the calls of each function from the rows.
macro_rules! calls {
    ($y:ident $g:ident: $(
        #[$doc:meta] $(#[$more:meta])*
        $variant:ident: $name:ident($($operand:ident),+) takes $takes:ident, within $within:tt, wgsl $wgsl:tt,
        value $value:tt integers $integers:tt gradients $gradients:tt;
    )*) => {
        /// The functions of tensors of any elements, and those of masks.
        #[must_use]
        pub fn tensor_calls<T: Element>() -> Vec<(Function, TensorCall<T>)> {
            let all: Vec<Option<TensorCall<T>>> = vec![$(tensor_call!($takes $name ($($operand),+))),*];
            Function::ALL.into_iter().zip(all).filter_map(|(function, call)| Some((function, call?))).collect()
        }

        /// The functions of tensors that exist only for reals.
        #[must_use]
        pub fn real_calls<T: Real>() -> Vec<(Function, TensorCall<T>)> {
            let all: Vec<Option<TensorCall<T>>> = vec![$(real_call!($takes $name ($($operand),+))),*];
            Function::ALL.into_iter().zip(all).filter_map(|(function, call)| Some((function, call?))).collect()
        }

        /// A function of expressions, by its method or operator. It takes the first of these operands, up to its number
        /// of operands.
        #[must_use]
        pub fn of_expressions(function: Function, operands: [&Expr; 3]) -> Expr {
            match function {
                $(Function::$variant => {
                    let [$($operand,)+ ..] = operands;
                    expression!($name $($operand)+)
                })*
            }
        }
    };
}

function_rows!(calls);

/// A function's entries in the book's table: the elements that the function of tensors takes, and the bound in $u =
/// 2^{-23}$ of the result.
#[must_use]
pub fn described(function: Function) -> (&'static str, u8) {
    (function.takes(), function.units())
}
