//! Whether an operator or its transpose is applied.

/// Whether an operator $S$ with d rows and n columns or its transpose is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// $S$: lines of n elements become lines of d.
    Forward,
    /// $S^T$: lines of d elements become lines of n.
    Adjoint,
}

impl Direction {
    /// The length of a line before and after an operator of this shape (d, n) is applied.
    pub(in crate::sketch) fn lengths(self, [d, n]: [usize; 2]) -> [usize; 2] {
        match self {
            Self::Forward => [n, d],
            Self::Adjoint => [d, n],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Direction;

    #[test]
    fn the_adjoint_exchanges_the_lengths() {
        assert_eq!(Direction::Forward.lengths([3, 8]), [8, 3]);
        assert_eq!(Direction::Adjoint.lengths([3, 8]), [3, 8]);
    }
}
