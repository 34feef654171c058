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
macro_rules! operators {
    ($($operator:ident $method:ident)*) => {$(
        impl<T: Into<Expr>> $operator<T> for Expr {
            type Output = Self;

            fn $method(self, other: T) -> Self {
                Self::call(Function::$operator, vec![self, other.into()])
            }
        }

        impl<T: Into<Expr>> $operator<T> for &Expr {
            type Output = Expr;

            fn $method(self, other: T) -> Expr {
                self.with(Function::$operator, other)
            }
        }

        impl $operator<Expr> for f32 {
            type Output = Expr;

            fn $method(self, other: Expr) -> Expr {
                Expr::from(self).with(Function::$operator, other)
            }
        }

        impl $operator<&Expr> for f32 {
            type Output = Expr;

            fn $method(self, other: &Expr) -> Expr {
                Expr::from(self).with(Function::$operator, other)
            }
        }

        impl $operator<Expr> for i32 {
            type Output = Expr;

            fn $method(self, other: Expr) -> Expr {
                Expr::from(self).with(Function::$operator, other)
            }
        }

        impl $operator<&Expr> for i32 {
            type Output = Expr;

            fn $method(self, other: &Expr) -> Expr {
                Expr::from(self).with(Function::$operator, other)
            }
        }
    )*};
}

operators!(Add add Sub sub Mul mul Div div);

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
