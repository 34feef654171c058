//! Shader expressions that several parts of a function of rows use.

use crate::kernel::write::{Callee, Expression, fma, index, integer, name, number};

/// A vector of the same number for each feature of a unit.
pub(super) fn vector(value: f32) -> Expression {
    Callee::free("lanes").call([number(value)])
}

/// The number of features in a unit; less than the vector width at the end of a row.
pub(super) fn count() -> Expression {
    index("unit").member("count")
}

/// The factor of a grade, one over its norm.
pub(super) fn factor(g: usize) -> Expression {
    name(format!("r{g}"))
}

/// The mean of one of a row's sums over its features.
pub(super) fn mean(sum: usize) -> Expression {
    let features = Callee::free("f32").call([index("dims").member("features")]);
    name("total").pointed().element(integer(sum)) / features
}

/// The sum of signed products, as fused multiply-adds in order; None if there are no products.
pub(super) fn fused(terms: impl Iterator<Item = (i8, Expression, Expression)>) -> Option<Expression> {
    terms.fold(None, |sum, (sign, a, b)| {
        let a = if sign < 0 { -a } else { a };
        Some(match sum {
            None => a * b,
            Some(sum) => fma(a, b, sum),
        })
    })
}
