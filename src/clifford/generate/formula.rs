//! Formulas: generated WGSL statements and result expressions.

use crate::kernel::wgsl::{ABS, Block, Callee, Expression, MAX, Sum, name, number};
use std::fmt::Display;

/// The generated code of a function at one position.
#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) struct Formula {
    /// Statements that the results use.
    pub(crate) statements: Block,
    /// One expression per blade of the result.
    pub(crate) results: Vec<Expression>,
}

/// A constant, the same at all positions.
pub(crate) fn lanes(value: f32) -> Expression {
    Callee::without_flops("lanes").call([number(value)])
}

/// A variable with an index in its name, such as `x3`.
pub(crate) fn numbered(of: &str, place: impl Display) -> Expression {
    name(format!("{of}{place}"))
}

impl Formula {
    /// The number of arithmetic operations per position.
    pub(crate) fn flops(&self) -> usize {
        self.statements.flops() + self.results.iter().map(Expression::flops).sum::<usize>()
    }
}

/// The largest magnitude of values.
pub(crate) fn most_of(values: &[Expression]) -> Expression {
    match values {
        [] => lanes(0.0),
        [one] => ABS.call([one]),
        _ => {
            let (first, second) = values.split_at(values.len() / 2);
            MAX.call([most_of(first), most_of(second)])
        }
    }
}

/// The sum of squares.
pub(crate) fn squares(of: impl Iterator<Item = Expression>) -> Expression {
    Sum::of(of.map(|value| &value * &value)).or(lanes(0.0))
}

/// The expressions of sums. An empty sum is zero.
pub(crate) fn sum_expressions(sums: Vec<Sum>) -> Vec<Expression> {
    sums.into_iter().map(|sum| sum.or(lanes(0.0))).collect()
}
