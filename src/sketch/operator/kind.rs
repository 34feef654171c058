//! The kinds of random operators and how their entries are scaled.

/// Largest number of nonzeros in a column or row of a sparse operator: an invocation keeps two words of 32 bits, one bit
/// for each.
pub const MAX_NONZEROS: usize = 64;

/// Largest length of a Hadamard transform, after padding to a power of two.
pub const MAX_HADAMARD_LENGTH: usize = 1 << 24;

/// The distribution of an operator's entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SketchKind {
    /// Independent normal entries. Panther calls this `gaussian_skop`, and unscaled `dense_sketch_operator`.
    Gaussian,
    /// Independent uniform entries. Unscaled, their variance is 1/3; that of Panther's `dense_sketch_operator` is 1.
    Uniform,
    /// Independent entries of 1 and -1: Panther's `scaled_sign_sketch`.
    Sign,
    /// One entry of 1 or -1 in each column: Panther's `count_skop`.
    CountSketch,
    /// A fixed number of entries of 1 and -1 in each column, in different rows: Panther's `sjlt_skop`.
    Sjlt {
        /// Nonzeros per column.
        nonzeros: usize,
    },
    /// Entries of 1 and -1 along the shorter or the longer axis: Panther's `sparse_sketch_operator`, which is unscaled.
    SparseSign {
        /// The axis along which the nonzeros are counted.
        axis: SparseAxis,
        /// Nonzeros per line of that axis.
        nonzeros: usize,
    },
    /// Rows of a Hadamard matrix whose columns have random signs: the subsampled randomised Hadamard transform.
    Hadamard,
}

/// The axis along which the nonzeros of a sparse operator are counted.
///
/// If the operator has no more rows than columns, a short line is a column and a long line is a row; otherwise it is
/// the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SparseAxis {
    /// Each short line has the given number of nonzeros, at different positions.
    Short,
    /// Each long line has the given number of nonzeros, each at a position drawn from all. An entry that is drawn twice
    /// is the sum of both signs; in Panther it is one sign times the root of the number of draws.
    Long,
}

/// The factor that scales an operator's entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scaling {
    /// Scaled so that $E[S^T S] = I$.
    #[default]
    Isometry,
    /// Not scaled: normal entries of variance 1, uniform entries between -1 and 1, signs.
    Unscaled,
    /// Scaled so that the rows of a Hadamard operator are orthonormal, as in Panther's `srht`. Other kinds are
    /// unscaled.
    Orthonormal,
}
