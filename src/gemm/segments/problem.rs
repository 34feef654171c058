//! A product that is summed over segments: what to compute, as plain data.

use crate::Result;
use crate::gemm::problem::{
    Gated, GemmDims, GemmProblem, GemmTypes, Generated, OP, OperandPlanes, Pin, PlaneSource,
    SEGMENT_MULTIPLE, Segments, SplitK,
};
use crate::layout::{Precision, dim};

/// The sizes and operands of a batch of products over segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentedProduct {
    /// Rows and columns of C, and the length of a segment along k without its padding.
    pub(crate) shape: [usize; 3],
    /// The number of matrices of C, which are stored without gaps.
    pub(crate) batches: usize,
    /// The largest number of segments of a matrix.
    pub(crate) longest: usize,
    /// Element types.
    pub(crate) types: GemmTypes,
    /// The planes of A; those of the left factor if A's planes are products.
    pub(crate) a: OperandPlanes,
    /// The planes of the right factor if A's planes are products.
    pub(crate) y: Option<OperandPlanes>,
    /// Strides of the gates along the outer axis and along k, if products have gates.
    pub(crate) gates: Option<[usize; 2]>,
    /// The planes of B.
    pub(crate) b: OperandPlanes,
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
        let Self { shape: [m, n, k], batches, a, b, types, .. } = *self;
        let y = self.y.unwrap_or_default();
        let [gates_outer, gates_k] = self.gates.unwrap_or_default();
        let padded = dim(OP, k)?.next_multiple_of(SEGMENT_MULTIPLE);
        let all = dim(OP, self.longest * padded as usize)?;
        dim(OP, batches * m * n)?;
        let dims = GemmDims {
            m: dim(OP, m)?,
            n: dim(OP, n)?,
            k: all,
            k_per_split: all,
            batches: dim(OP, batches)?,
            batch1: dim(OP, batches)?,
            splits: 1,
            a_outer: a.outer,
            a_k: a.k,
            a_offset: a.offset,
            b_outer: b.outer,
            b_k: b.k,
            b_offset: b.offset,
            ldc: dim(OP, n)?,
            c_batch1: dim(OP, m * n)?,
            ..GemmDims::default()
        };
        let source = match (self.y, self.gates) {
            (None, _) => PlaneSource::Stored,
            (Some(_), None) => PlaneSource::Products(Gated::No),
            (Some(_), Some(_)) => PlaneSource::Products(Gated::Yes),
        };
        let segments = Segments {
            source,
            a,
            y,
            b,
            gates: [dim(OP, gates_outer)?, dim(OP, gates_k)?],
            step: padded,
            length: dim(OP, k)?,
            words: dim(OP, self.words)?,
            total: dim(OP, self.total)?,
        };
        let (epilogue, pin, split) = (Default::default(), Pin::Free, SplitK::Auto);
        let (precision, generated) = (Precision::Strict, Some(Generated::Segments(segments)));
        let line_places = Default::default();
        Ok(GemmProblem { dims, types, epilogue, line_places, pin, split, precision, generated })
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
