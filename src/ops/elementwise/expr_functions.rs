//! The functions and operators of expressions.

use super::expr::Expr;
use super::function::Function;
use crate::ops::table::function_rows;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// The method of a row. Some rows have an operator instead.
macro_rules! method {
    (neg $($rest:tt)*) => {};
    (add $($rest:tt)*) => {};
    (sub $($rest:tt)*) => {};
    (mul $($rest:tt)*) => {};
    (div $($rest:tt)*) => {};
    ($name:ident ($a:ident) $variant:ident #[$doc:meta]) => {
        #[$doc]
        #[must_use]
        pub fn $name(&self) -> Self {
            self.of(Function::$variant)
        }
    };
    ($name:ident ($a:ident, $($other:ident),+) $variant:ident #[$doc:meta]) => {
        #[$doc]
        #[must_use]
        pub fn $name(&self, $($other: impl Into<Self>),+) -> Self {
            Self::call(Function::$variant, vec![self.clone(), $($other.into()),+])
        }
    };
}

/// Generates the methods from the rows.
macro_rules! methods {
    ($y:ident $g:ident: $(
        #[$doc:meta] $(#[$more:meta])*
        $variant:ident: $name:ident $operands:tt takes $takes:ident, within $within:tt, wgsl $wgsl:tt,
        value $value:tt integers $integers:tt gradients $gradients:tt;
    )*) => {
        /// The functions of values.
        impl Expr {
            $(method! { $name $operands $variant #[$doc] })*
        }
    };
}

function_rows!(methods);

/// The operators of values with values and numbers.
macro_rules! operator {
    ($operator:ident $method:ident) => {
        operator! { $operator $method [T: Into<Expr>] Expr, T }
        operator! { $operator $method [T: Into<Expr>] &Expr, T }
        operator! { $operator $method [] f32, Expr }
        operator! { $operator $method [] f32, &Expr }
        operator! { $operator $method [] i32, Expr }
        operator! { $operator $method [] i32, &Expr }
    };
    ($operator:ident $method:ident [$($generic:tt)*] $left:ty, $right:ty) => {
        impl<$($generic)*> $operator<$right> for $left {
            type Output = Expr;

            fn $method(self, other: $right) -> Expr {
                Expr::from(self).with(Function::$operator, other)
            }
        }
    };
}

operator!(Add add);
operator!(Sub sub);
operator!(Mul mul);
operator!(Div div);

impl Neg for Expr {
    type Output = Self;

    fn neg(self) -> Self {
        self.of(Function::Neg)
    }
}

impl Neg for &Expr {
    type Output = Expr;

    fn neg(self) -> Expr {
        self.of(Function::Neg)
    }
}
