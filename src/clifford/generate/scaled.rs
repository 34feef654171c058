//! Numbers of any size as parts of a length: scaled by a power of two, so that no square overflows or vanishes.

use super::formula::most_of;
use super::trigonometry::{INNER_OF, OUTER_OF, SCALE_OF};
use crate::kernel::wgsl::{Block, Expression};

/// Numbers times the power of two that brings the largest near 1. Numbers below $2^{-46}$ may become 0, which does not change a sum
/// of squares in f32.
pub(super) struct Scaled {
    /// The largest magnitude before scaling.
    pub(super) most: Expression,
    /// The scaled numbers.
    pub(super) parts: Vec<Expression>,
}

/// The division of numbers of any size by a length.
pub(super) struct Divisor {
    outer: Expression,
    inner: Expression,
}

impl Scaled {
    /// Defines the numbers. Names begin with `prefix`.
    pub(super) fn define(lines: &mut Block, prefix: &str, of: &[Expression]) -> Self {
        let most = lines.define(format!("{prefix}most"), most_of(of));
        let scale = lines.define(format!("{prefix}scale"), SCALE_OF.call([&most]));
        let part = |(i, x): (usize, &Expression)| lines.define(format!("{prefix}s{i}"), &scale * x);
        let parts = of.iter().enumerate().map(part).collect();
        Self { most, parts }
    }

    /// The division by the numbers' length before scaling, where `root` is one over their length after it.
    pub(super) fn divisor(&self, lines: &mut Block, prefix: &str, root: Expression) -> Divisor {
        let outer = lines.define(format!("{prefix}outer"), OUTER_OF.call([&self.most]));
        let inner = lines.define(format!("{prefix}inner"), root * INNER_OF.call([&self.most]));
        Divisor { outer, inner }
    }
}

impl Divisor {
    /// The quotient. It is infinite or flushed to 0 only if it is beyond the range of f32 itself.
    pub(super) fn divide(&self, x: impl Into<Expression>) -> Expression {
        &self.inner * (&self.outer * x.into())
    }
}
