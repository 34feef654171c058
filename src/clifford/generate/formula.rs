//! Formulas: generated WGSL statements and result expressions.

use crate::clifford::algebra::blades::Blades;
use crate::kernel::wgsl::{Block, Callee, Expression, Sum, name, number};
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

/// The quadratic form $\langle \tilde x x \rangle_{0}$.
pub(crate) fn square(x: &Blades) -> Expression {
    let mut sum = Sum::default();
    for (i, &blade) in x.masks().iter().enumerate() {
        sum.push(x.signature().square(blade), numbered("x", i) * numbered("x", i));
    }
    sum.or(lanes(0.0))
}

/// The sum of squares.
pub(crate) fn squares(of: impl Iterator<Item = Expression>) -> Expression {
    Sum::of(of.map(|value| &value * &value)).or(lanes(0.0))
}

/// The expressions of sums. An empty sum is zero.
pub(crate) fn sum_expressions(sums: Vec<Sum>) -> Vec<Expression> {
    sums.into_iter().map(|sum| sum.or(lanes(0.0))).collect()
}
