//! Formulas: generated WGSL statements and result expressions.

use super::trigonometry::SCALE_OF;
use crate::clifford::algebra::blades::Blades;
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

/// The quadratic form $\langle \tilde s s \rangle_{0}$ of coefficients `s`.
pub(crate) fn square(s: &Blades) -> Expression {
    let mut sum = Sum::default();
    for (i, &blade) in s.masks().iter().enumerate() {
        sum.push(s.signature().square(blade), numbered("s", i) * numbered("s", i));
    }
    sum.or(lanes(0.0))
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

/// Defines `s`, the coefficients `x` times the power of two `scale` that brings the largest, `most`, near 1. Squares of all that f32
/// holds would overflow or vanish.
pub(crate) fn define_scaled(lines: &mut Block, count: usize) {
    let all: Vec<Expression> = (0..count).map(|i| numbered("x", i)).collect();
    let most = lines.define("most", most_of(&all));
    let scale = lines.define("scale", SCALE_OF.call([most]));
    for (i, x) in all.into_iter().enumerate() {
        lines.define(format!("s{i}"), &scale * x);
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
