//! A product that is summed over segments: what to compute, as plain data.

use crate::Result;
use crate::gemm::problem::{
    GemmProblem, GemmTypes, Generated, Layouts, MatrixLayout, OP, Pin, SEGMENT_MULTIPLE, Segments, SplitK,
};
use crate::layout::{Layout, dim};

/// The operands of a batch of products over segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentedProduct {
    /// The number of matrices of C, which are stored without gaps.
    pub(crate) batches: usize,
    /// The largest number of segments of a matrix.
    pub(crate) longest: usize,
    /// Element types.
    pub(crate) types: GemmTypes,
    /// The planes (plane, m, k) of A, or those of the left factor if A's planes are products. k is the length of a segment.
    pub(crate) a: Layout,
    /// The planes (plane, m, k) of the right factor if A's planes are products.
    pub(crate) y: Option<Layout>,
    /// The gates (m, k) of these products, if they have gates.
    pub(crate) gates: Option<Layout>,
    /// The planes (plane, k, n) of B.
    pub(crate) b: Layout,
    /// Length of the table of segments, in words.
    pub(crate) words: usize,
    /// The number of segments of all matrices.
    pub(crate) total: usize,
}

impl SegmentedProduct {
    /// The checked problem.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if a size is $2^{31}$ or more.
    pub(crate) fn problem(&self) -> Result<GemmProblem> {
        let Self { batches, longest, types, a, y, gates, b, words, total } = *self;
        let planes = |of: &Layout| MatrixLayout::of(of, types.ab, 0);
        let (a, b, y) = (planes(&a)?, planes(&b)?, y.map(|y| planes(&y)).transpose()?);
        let ([.., m, length], [.., n]) = (a.shape, b.shape);
        let gates = match gates {
            None => None,
            Some(of) => {
                let [outer, k] = [0, 1].map(|axis| dim(OP, of.strides()[axis]));
                Some(MatrixLayout { shape: [1, 1, m, length], strides: [0, 0, outer?, k?], offset: 0 })
            }
        };
        let step = length.next_multiple_of(SEGMENT_MULTIPLE);
        let (k, of_matrix) = (dim(OP, longest * step as usize)?, m as usize * n as usize);
        dim(OP, batches * of_matrix)?;
        let shape = [1, dim(OP, batches)?, m, n];
        let c = MatrixLayout { shape, strides: [0, dim(OP, of_matrix)?, n, 1], offset: 0 };
        let (words, total) = (dim(OP, words)?, dim(OP, total)?);
        let segments = Segments { y, gates, k, step, length, words, total };
        let layouts = Layouts { a, b, c, extras: [None; 4] };
        Ok(GemmProblem::of(layouts, types, Some(Generated::Segments(segments))))
    }
}

/// A product that is summed over segments, with its table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SegmentedProblem {
    /// The product.
    pub(crate) problem: GemmProblem,
    /// The table of its segments ([`segment_table`](super::segment_table)).
    pub(crate) table: Vec<u32>,
}

impl SegmentedProblem {
    /// The product. It cannot be planned by itself, because it lacks the table.
    #[must_use]
    pub fn product(&self) -> &GemmProblem {
        &self.problem
    }

    /// The table of the product's segments.
    #[must_use]
    pub fn table(&self) -> &[u32] {
        &self.table
    }

    /// Restricts the candidates of the plan.
    #[must_use]
    pub fn pinned(self, pin: Pin) -> Self {
        Self { problem: self.problem.pinned(pin), ..self }
    }

    /// Sets the number of splits of k.
    #[must_use]
    pub fn split_k(self, split: SplitK) -> Self {
        Self { problem: self.problem.split_k(split), ..self }
    }
}
