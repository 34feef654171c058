//! Expressions.

use std::borrow::Cow;
use std::ops::{Add, BitAnd, Div, Mul, Neg, Sub};

/// An expression tree. The printed text evaluates operations in the order of the tree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expression {
    /// A variable, a constant or a parameter.
    Name(String, NumberKind),
    /// An f32 literal.
    Float(f32),
    /// A u32 literal.
    Index(u32),
    /// A negation.
    Negative(Box<Self>),
    /// Terms that are added and subtracted from left to right.
    Sum(Sum),
    /// Two operands of an operator other than `+` and `-`.
    Binary(Operator, Box<[Self; 2]>),
    /// A call of a function or of a type's constructor.
    Call(Callee, Vec<Self>),
    /// A component, a swizzle or a member: `.x`, `.zw`, `.sine`.
    Member(Box<Self>, Cow<'static, str>),
    /// An array and an index into it.
    Element(Box<[Self; 2]>),
    /// A dereferenced pointer.
    Dereference(Box<Self>),
}

/// The kind of an expression's numbers. Only floating-point arithmetic is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberKind {
    Float,
    Index,
}

/// A binary operator other than `+` and `-`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Multiply,
    Divide,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    /// `&` of bools or of vectors of bools. Both operands are evaluated.
    BitAnd,
    /// `&&` of bools. The second operand is evaluated only if the first is true.
    And,
}

/// A function that expressions call, or a type that they construct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Callee {
    pub(super) name: Cow<'static, str>,
    /// The floating-point operations of a call.
    pub(super) flops: usize,
    /// The file from which the function is imported.
    pub(super) file: Option<&'static str>,
    /// The kind of the result.
    pub(super) result: NumberKind,
}

pub(crate) const ABS: Callee = Callee::new("abs", 1);
pub(crate) const SIGN: Callee = Callee::new("sign", 1);
pub(crate) const SQRT: Callee = Callee::new("sqrt", 1);
/// The larger of two numbers.
pub(crate) const MAX: Callee = Callee::new("max", 1);
/// The smaller of two integers.
pub(crate) const MIN: Callee = Callee::new("min", 0).returning_index();
const FMA: Callee = Callee::new("fma", 2);
const SELECT: Callee = Callee::new("select", 0);

impl Callee {
    /// A built-in function, or one of the surrounding text. Each call counts as `flops` floating-point operations.
    pub(crate) const fn new(name: &'static str, flops: usize) -> Self {
        Self { name: Cow::Borrowed(name), flops, file: None, result: NumberKind::Float }
    }

    /// A function without floating-point operations, such as a load, a store or a constructor.
    pub(crate) fn without_flops(name: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), ..Self::new("", 0) }
    }

    /// Declares that the function is imported from `file`. A [`Module`](super::Module) that calls it prints the `//#import`.
    pub(crate) const fn imported(mut self, file: &'static str) -> Self {
        self.file = Some(file);
        self
    }

    /// Declares that the function returns an integer.
    pub(crate) const fn returning_index(mut self) -> Self {
        self.result = NumberKind::Index;
        self
    }

    /// A call with these arguments.
    pub(crate) fn call<A: Into<Expression>>(&self, arguments: impl IntoIterator<Item = A>) -> Expression {
        Expression::Call(self.clone(), arguments.into_iter().map(Into::into).collect())
    }
}

/// A variable that is not an integer: a float, a vector or matrix of floats, a struct or a bool.
pub(crate) fn name(name: impl Into<String>) -> Expression {
    Expression::Name(name.into(), NumberKind::Float)
}

/// A variable that is an integer or a vector of integers.
pub(crate) fn index(name: impl Into<String>) -> Expression {
    Expression::Name(name.into(), NumberKind::Index)
}

/// A u32 literal. NOTE: larger values saturate; no text that fits in memory has them.
pub(crate) fn integer(value: usize) -> Expression {
    Expression::Index(u32::try_from(value).unwrap_or(u32::MAX))
}

/// An f32 literal. The value must be finite, because WGSL has no literals for infinities and NaN.
pub(crate) fn number(value: f32) -> Expression {
    debug_assert!(value.is_finite(), "{value} has no literal");
    Expression::Float(value)
}

/// `fma(a, b, c)`: $ab + c$. The device may round once or twice.
pub(crate) fn fma(a: Expression, b: Expression, c: Expression) -> Expression {
    FMA.call([a, b, c])
}

/// `then` if the condition is true, otherwise `otherwise`. The arguments have the order of WGSL's `select`.
pub(crate) fn select(otherwise: Expression, then: Expression, condition: Expression) -> Expression {
    SELECT.call([otherwise, then, condition])
}

impl Expression {
    /// `self.member`: a component, a swizzle or a member of a struct.
    pub(crate) fn member(self, member: impl Into<Cow<'static, str>>) -> Self {
        Self::Member(Box::new(self), member.into())
    }

    /// `self[index]`.
    pub(crate) fn element(self, index: impl Into<Self>) -> Self {
        Self::Element(Box::new([self, index.into()]))
    }

    /// `*self`.
    pub(crate) fn dereference(self) -> Self {
        Self::Dereference(Box::new(self))
    }

    /// `self == other`.
    pub(crate) fn equals(self, other: impl Into<Self>) -> Self {
        self.binary(Operator::Equal, other)
    }

    /// `self != other`.
    pub(crate) fn differs(self, other: impl Into<Self>) -> Self {
        self.binary(Operator::NotEqual, other)
    }

    /// `self < other`.
    pub(crate) fn below(self, other: impl Into<Self>) -> Self {
        self.binary(Operator::Less, other)
    }

    /// `self <= other`.
    pub(crate) fn at_most(self, other: impl Into<Self>) -> Self {
        self.binary(Operator::LessOrEqual, other)
    }

    /// `self > other`.
    pub(crate) fn above(self, other: impl Into<Self>) -> Self {
        self.binary(Operator::Greater, other)
    }

    /// `self && other`: `other` is evaluated only if `self` is true.
    pub(crate) fn and_then(self, other: impl Into<Self>) -> Self {
        self.binary(Operator::And, other)
    }

    fn binary(self, operator: Operator, other: impl Into<Self>) -> Self {
        Self::Binary(operator, Box::new([self, other.into()]))
    }
}

/// Terms that are added and subtracted from left to right: `a - b + c` is `(a - b) + c`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sum(pub(super) Vec<(Sign, Expression)>);

/// Whether a term is added or subtracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Plus,
    Minus,
}

impl Sum {
    /// Appends a term with the sign of a number: it is added if `sign` is positive, subtracted if negative, omitted if 0.
    pub(crate) fn push(&mut self, sign: i8, term: impl Into<Expression>) {
        match sign {
            0 => {}
            1.. => self.0.push((Sign::Plus, term.into())),
            _ => self.0.push((Sign::Minus, term.into())),
        }
    }

    /// Whether the sum has no terms.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A sum of these terms.
    pub(crate) fn of<T: Into<Expression>>(terms: impl IntoIterator<Item = T>) -> Self {
        Self(terms.into_iter().map(|term| (Sign::Plus, term.into())).collect())
    }

    /// The sum as an expression, or `zero` if it has no terms.
    pub(crate) fn or(self, zero: Expression) -> Expression {
        if self.is_empty() { zero } else { Expression::Sum(self) }
    }

    /// Appends a term to an expression. A sum gets one more term; any other expression becomes the first of two.
    fn append(first: Expression, sign: Sign, term: Expression) -> Expression {
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
        Sum::append(self, Sign::Plus, other.into())
    }
}

impl<T: Into<Self>> Sub<T> for Expression {
    type Output = Self;

    fn sub(self, other: T) -> Self {
        Sum::append(self, Sign::Minus, other.into())
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

/// `self & other` of bools or of vectors of bools.
impl<T: Into<Self>> BitAnd<T> for Expression {
    type Output = Self;

    fn bitand(self, other: T) -> Self {
        self.binary(Operator::BitAnd, other)
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
