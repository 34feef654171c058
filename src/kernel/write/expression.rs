//! Expressions: what is computed, and in which order.

use std::borrow::Cow;
use std::ops::{Add, BitAnd, Div, Mul, Neg, Sub};

/// What is computed: a tree whose order of operations the printed text keeps.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expression {
    /// A variable, a constant or a parameter.
    Name(String, Number),
    /// A number of f32.
    Float(f32),
    /// A number of u32.
    Index(u32),
    /// What it is, with the other sign.
    Negative(Box<Self>),
    /// Terms that are added or taken away, from the first to the last.
    Sum(Sum),
    /// Two operands and what stands between them.
    Binary(Operator, Box<[Self; 2]>),
    /// A call: of a function, or of a type, whose value it makes.
    Call(Callee, Vec<Self>),
    /// A component, several, or a field: `.x`, `.zw`, `.sine`.
    Member(Box<Self>, Cow<'static, str>),
    /// An element of an array.
    Element(Box<[Self; 2]>),
    /// What a pointer points at.
    Pointed(Box<Self>),
}

/// What numbers an expression is of: arithmetic of floats is counted, and that of places is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    Float,
    Index,
}

/// An operator between two operands that is no sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Multiply,
    Divide,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    /// Of truth values, each by itself: `&`.
    Each,
    /// Of two truth values, the second only if the first holds: `&&`.
    Both,
}

/// A function that expressions call, or a type that they make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Callee {
    pub(super) name: Cow<'static, str>,
    /// Operations on floats of a call.
    pub(super) flops: usize,
    /// The file of shared functions that it stands in.
    pub(super) file: Option<&'static str>,
    pub(super) of: Number,
}

pub(crate) const ABS: Callee = Callee::new("abs", 1);
pub(crate) const SIGN: Callee = Callee::new("sign", 1);
pub(crate) const SQRT: Callee = Callee::new("sqrt", 1);
/// The lesser of two places or counts.
pub(crate) const MIN: Callee = Callee::new("min", 0).of_indices();
const FMA: Callee = Callee::new("fma", 2);
const SELECT: Callee = Callee::new("select", 0);

impl Callee {
    /// A function of WGSL or of the text around, which does so many operations on floats.
    pub(crate) const fn new(name: &'static str, flops: usize) -> Self {
        Self { name: Cow::Borrowed(name), flops, file: None, of: Number::Float }
    }

    /// A function that computes nothing: it loads or stores, or makes a value of a type.
    pub(crate) fn free(name: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), ..Self::new("", 0) }
    }

    /// The same function, which is imported from `common/` or the kernel's folder: a definition that calls it says so.
    pub(crate) const fn imported(mut self, file: &'static str) -> Self {
        self.file = Some(file);
        self
    }

    /// A function whose result is a place or a count.
    pub(crate) const fn of_indices(mut self) -> Self {
        self.of = Number::Index;
        self
    }

    /// A call.
    pub(crate) fn call<A: Into<Expression>>(&self, arguments: impl IntoIterator<Item = A>) -> Expression {
        Expression::Call(self.clone(), arguments.into_iter().map(Into::into).collect())
    }
}

/// A float's name, or that of a vector, a matrix, a structure or a truth value.
pub(crate) fn name(name: impl Into<String>) -> Expression {
    Expression::Name(name.into(), Number::Float)
}

/// The name of a place or a count: an integer, or a vector of integers.
pub(crate) fn index(name: impl Into<String>) -> Expression {
    Expression::Name(name.into(), Number::Index)
}

/// A place or a count that is known. What has `usize` of them fits no text.
pub(crate) fn integer(value: usize) -> Expression {
    Expression::Index(u32::try_from(value).unwrap_or(u32::MAX))
}

/// A float, which must be finite: WGSL has no literal for others.
pub(crate) fn number(value: f32) -> Expression {
    debug_assert!(value.is_finite(), "{value} has no literal");
    Expression::Float(value)
}

/// `a b + c`, rounded once or twice.
pub(crate) fn fma(a: Expression, b: Expression, c: Expression) -> Expression {
    FMA.call([a, b, c])
}

/// One of two values: in the order of WGSL, that if the condition does not hold first.
pub(crate) fn select(otherwise: Expression, then: Expression, condition: Expression) -> Expression {
    SELECT.call([otherwise, then, condition])
}

impl Expression {
    /// A component, several or a field.
    pub(crate) fn member(self, member: impl Into<Cow<'static, str>>) -> Self {
        Self::Member(Box::new(self), member.into())
    }

    /// An element of an array.
    pub(crate) fn element(self, place: impl Into<Self>) -> Self {
        Self::Element(Box::new([self, place.into()]))
    }

    /// What this, a pointer, points at.
    pub(crate) fn pointed(self) -> Self {
        Self::Pointed(Box::new(self))
    }

    pub(crate) fn equals(self, other: impl Into<Self>) -> Self {
        self.binary(Operator::Equal, other)
    }

    pub(crate) fn differs(self, other: impl Into<Self>) -> Self {
        self.binary(Operator::NotEqual, other)
    }

    pub(crate) fn below(self, other: impl Into<Self>) -> Self {
        self.binary(Operator::Less, other)
    }

    pub(crate) fn at_most(self, other: impl Into<Self>) -> Self {
        self.binary(Operator::LessOrEqual, other)
    }

    pub(crate) fn above(self, other: impl Into<Self>) -> Self {
        self.binary(Operator::Greater, other)
    }

    /// Whether both hold; the second is looked at only if the first does.
    pub(crate) fn and_then(self, other: impl Into<Self>) -> Self {
        self.binary(Operator::Both, other)
    }

    fn binary(self, operator: Operator, other: impl Into<Self>) -> Self {
        Self::Binary(operator, Box::new([self, other.into()]))
    }
}

/// Terms that are added or taken away, in this order: `a - b + c` is `(a - b) + c`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sum(pub(super) Vec<(Sign, Expression)>);

/// Whether a term is added or taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Plus,
    Minus,
}

impl Sum {
    /// Adds a term, or takes it away, by the sign of a number; of 0 it is left out.
    pub(crate) fn push(&mut self, sign: i8, term: impl Into<Expression>) {
        match sign {
            0 => {}
            1.. => self.0.push((Sign::Plus, term.into())),
            _ => self.0.push((Sign::Minus, term.into())),
        }
    }

    /// Whether there is no term, and so no expression.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The sum of these terms.
    pub(crate) fn of<T: Into<Expression>>(terms: impl IntoIterator<Item = T>) -> Self {
        Self(terms.into_iter().map(|term| (Sign::Plus, term.into())).collect())
    }

    /// The sum; of no term, `zero`.
    pub(crate) fn or(self, zero: Expression) -> Expression {
        if self.is_empty() { zero } else { Expression::Sum(self) }
    }

    /// A sum goes on behind its last term; any other expression is the first.
    fn after(first: Expression, sign: Sign, term: Expression) -> Expression {
        let mut sum = match first {
            Expression::Sum(sum) if !sum.is_empty() => sum,
            first => Self(vec![(Sign::Plus, first)]),
        };
        sum.0.push((sign, term));
        Expression::Sum(sum)
    }
}

impl<T: Into<Self>> Add<T> for Expression {
    type Output = Self;

    fn add(self, other: T) -> Self {
        Sum::after(self, Sign::Plus, other.into())
    }
}

impl<T: Into<Self>> Sub<T> for Expression {
    type Output = Self;

    fn sub(self, other: T) -> Self {
        Sum::after(self, Sign::Minus, other.into())
    }
}

impl<T: Into<Self>> Mul<T> for Expression {
    type Output = Self;

    fn mul(self, other: T) -> Self {
        self.binary(Operator::Multiply, other)
    }
}

impl<T: Into<Self>> Div<T> for Expression {
    type Output = Self;

    fn div(self, other: T) -> Self {
        self.binary(Operator::Divide, other)
    }
}

impl<T: Into<Expression>> Add<T> for &Expression {
    type Output = Expression;

    fn add(self, other: T) -> Expression {
        self.clone().add(other)
    }
}

impl<T: Into<Expression>> Sub<T> for &Expression {
    type Output = Expression;

    fn sub(self, other: T) -> Expression {
        self.clone().sub(other)
    }
}

impl<T: Into<Expression>> Mul<T> for &Expression {
    type Output = Expression;

    fn mul(self, other: T) -> Expression {
        self.clone().mul(other)
    }
}

impl<T: Into<Expression>> Div<T> for &Expression {
    type Output = Expression;

    fn div(self, other: T) -> Expression {
        self.clone().div(other)
    }
}

/// Of truth values, each by itself.
impl<T: Into<Self>> BitAnd<T> for Expression {
    type Output = Self;

    fn bitand(self, other: T) -> Self {
        self.binary(Operator::Each, other)
    }
}

impl Neg for Expression {
    type Output = Self;

    fn neg(self) -> Self {
        Self::Negative(Box::new(self))
    }
}

impl Neg for &Expression {
    type Output = Expression;

    fn neg(self) -> Expression {
        -self.clone()
    }
}

impl From<f32> for Expression {
    fn from(value: f32) -> Self {
        number(value)
    }
}

impl From<u32> for Expression {
    fn from(value: u32) -> Self {
        Self::Index(value)
    }
}

impl From<&Expression> for Expression {
    fn from(value: &Self) -> Self {
        value.clone()
    }
}
