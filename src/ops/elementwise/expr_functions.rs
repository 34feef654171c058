//! The functions and operators of expressions.

use super::expr::Expr;
use super::function::Function;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Functions of one value.
impl Expr {
    /// $|a|$.
    #[must_use]
    pub fn abs(&self) -> Self {
        self.of(Function::Abs)
    }

    /// -1, 0 or 1.
    #[must_use]
    pub fn sign(&self) -> Self {
        self.of(Function::Sign)
    }

    /// $\sqrt a$.
    #[must_use]
    pub fn sqrt(&self) -> Self {
        self.of(Function::Sqrt)
    }

    /// $1 / \sqrt a$.
    #[must_use]
    pub fn rsqrt(&self) -> Self {
        self.of(Function::Rsqrt)
    }

    /// $e^a$.
    #[must_use]
    pub fn exp(&self) -> Self {
        self.of(Function::Exp)
    }

    /// $\ln a$.
    #[must_use]
    pub fn log(&self) -> Self {
        self.of(Function::Log)
    }

    /// $a^2$.
    #[must_use]
    pub fn square(&self) -> Self {
        self.of(Function::Square)
    }

    /// $1 / a$.
    #[must_use]
    pub fn recip(&self) -> Self {
        self.of(Function::Recip)
    }

    /// The largest integer that is at most a.
    #[must_use]
    pub fn floor(&self) -> Self {
        self.of(Function::Floor)
    }

    /// The smallest integer that is at least a.
    #[must_use]
    pub fn ceil(&self) -> Self {
        self.of(Function::Ceil)
    }

    /// The nearest integer; ties go to the even one.
    #[must_use]
    pub fn round(&self) -> Self {
        self.of(Function::Round)
    }

    /// $\sin a$.
    #[must_use]
    pub fn sin(&self) -> Self {
        self.of(Function::Sin)
    }

    /// $\cos a$.
    #[must_use]
    pub fn cos(&self) -> Self {
        self.of(Function::Cos)
    }

    /// $\tanh a$.
    #[must_use]
    pub fn tanh(&self) -> Self {
        self.of(Function::Tanh)
    }

    /// $1 / (1 + e^{-a})$.
    #[must_use]
    pub fn sigmoid(&self) -> Self {
        self.of(Function::Sigmoid)
    }

    /// An integer as a real, rounded to f32.
    #[must_use]
    pub fn to_real(&self) -> Self {
        self.of(Function::ToReal)
    }

    /// A real as an integer: truncated, saturated at the ends of i32; NaN becomes 0. A mask becomes 0 or 1.
    #[must_use]
    pub fn to_integer(&self) -> Self {
        self.of(Function::ToInteger)
    }

    /// Whether a mask is not set.
    #[must_use]
    pub fn not(&self) -> Self {
        self.of(Function::Not)
    }
}

/// Functions of several values.
impl Expr {
    /// $a^b$, as [`pow`](crate::ops::pow).
    #[must_use]
    pub fn pow(&self, exponent: impl Into<Self>) -> Self {
        self.with(Function::Pow, exponent)
    }

    /// The smaller of two values; NaN if either is.
    #[must_use]
    pub fn minimum(&self, other: impl Into<Self>) -> Self {
        self.with(Function::Minimum, other)
    }

    /// The larger of two values; NaN if either is.
    #[must_use]
    pub fn maximum(&self, other: impl Into<Self>) -> Self {
        self.with(Function::Maximum, other)
    }

    /// The value, limited to the range.
    #[must_use]
    pub fn clamp(&self, lowest: impl Into<Self>, highest: impl Into<Self>) -> Self {
        Self::call(Function::Clamp, vec![self.clone(), lowest.into(), highest.into()])
    }

    /// Whether $a = b$.
    #[must_use]
    pub fn equal(&self, other: impl Into<Self>) -> Self {
        self.with(Function::Equal, other)
    }

    /// Whether $a \ne b$.
    #[must_use]
    pub fn not_equal(&self, other: impl Into<Self>) -> Self {
        self.with(Function::NotEqual, other)
    }

    /// Whether $a < b$.
    #[must_use]
    pub fn less(&self, other: impl Into<Self>) -> Self {
        self.with(Function::Less, other)
    }

    /// Whether $a \le b$.
    #[must_use]
    pub fn less_or_equal(&self, other: impl Into<Self>) -> Self {
        self.with(Function::LessOrEqual, other)
    }

    /// Whether $a > b$.
    #[must_use]
    pub fn greater(&self, other: impl Into<Self>) -> Self {
        self.with(Function::Greater, other)
    }

    /// Whether $a \ge b$.
    #[must_use]
    pub fn greater_or_equal(&self, other: impl Into<Self>) -> Self {
        self.with(Function::GreaterOrEqual, other)
    }

    /// Whether both masks are set.
    #[must_use]
    pub fn and(&self, other: impl Into<Self>) -> Self {
        self.with(Function::And, other)
    }

    /// Whether one of two masks is set, or both.
    #[must_use]
    pub fn or(&self, other: impl Into<Self>) -> Self {
        self.with(Function::Or, other)
    }

    /// `then` where this mask is set, `otherwise` elsewhere. A NaN that is not selected does not affect the result.
    #[must_use]
    pub fn select(&self, then: impl Into<Self>, otherwise: impl Into<Self>) -> Self {
        Self::call(Function::Select, vec![self.clone(), then.into(), otherwise.into()])
    }
}

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
