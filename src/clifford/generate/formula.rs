//! The generated code of a function: statements and results.

use crate::clifford::algebra::blades::Blades;
use crate::kernel::write::{Block, Callee, Expression, Sum, name, number};
use std::fmt::Display;

/// The code of a function, as far as it depends on the algebra.
#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) struct Formula {
    /// Statements before the results.
    pub(crate) lines: Block,
    /// One expression per blade of the result.
    pub(crate) results: Vec<Expression>,
}

/// The same number in all lanes.
pub(crate) fn lanes(value: f32) -> Expression {
    Callee::free("lanes").call([number(value)])
}

/// One of several values that are called alike, by its place.
pub(crate) fn numbered(of: &str, place: impl Display) -> Expression {
    name(format!("{of}{place}"))
}

impl Formula {
    /// Arithmetic operations at a position.
    pub(crate) fn flops(&self) -> usize {
        self.lines.flops() + self.results.iter().map(Expression::flops).sum::<usize>()
    }
}

/// $\langle \tilde x x \rangle_{0}$.
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

/// The sums, those without a term as zero.
pub(crate) fn finished(sums: Vec<Sum>) -> Vec<Expression> {
    sums.into_iter().map(|sum| sum.or(lanes(0.0))).collect()
}
