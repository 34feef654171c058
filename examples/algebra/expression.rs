//! Expressions of multivectors as trees, and their evaluation to any kind of value.

use tilewise::Result;
use tilewise::clifford::{Multivector, Product, Unary};

/// An expression, as a tree.
pub(crate) enum Expression {
    Literal(Multivector),
    Sum(Box<Self>, Box<Self>),
    Difference(Box<Self>, Box<Self>),
    Product(Product, Box<Self>, Box<Self>),
    Negative(Box<Self>),
    Unary(Unary, Box<Self>),
    Inverse(Box<Self>),
    Norm(Box<Self>),
    Grade(usize, Box<Self>),
}

/// Operations that an expression needs. Its values are numbers with bounds on the CPU, or tensors on a device.
pub(crate) trait Value: Sized {
    fn add(&self, y: &Self) -> Result<Self>;
    fn negative(&self) -> Result<Self>;
    fn product(&self, product: Product, y: &Self) -> Result<Self>;
    fn unary(&self, function: Unary) -> Result<Self>;
    fn inverse(&self) -> Result<Self>;
    fn norm(&self) -> Result<Self>;
    fn grade(&self, grade: usize) -> Result<Self>;
}

impl Expression {
    /// Evaluates the expression; `literal` supplies the values of numbers and blades.
    pub(crate) fn evaluate<V: Value>(&self, literal: &impl Fn(&Multivector) -> Result<V>) -> Result<V> {
        let of = |x: &Self| x.evaluate(literal);
        match self {
            Self::Literal(x) => literal(x),
            Self::Sum(x, y) => of(x)?.add(&of(y)?),
            Self::Difference(x, y) => of(x)?.add(&of(y)?.negative()?),
            Self::Product(product, x, y) => of(x)?.product(*product, &of(y)?),
            Self::Negative(x) => of(x)?.negative(),
            Self::Unary(function, x) => of(x)?.unary(*function),
            Self::Inverse(x) => of(x)?.inverse(),
            Self::Norm(x) => of(x)?.norm(),
            Self::Grade(grade, x) => of(x)?.grade(*grade),
        }
    }
}
