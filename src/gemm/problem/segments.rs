//! The segments of a product: ranges of k in which the operands' planes are looked up in a table.

use super::layouts::MatrixLayout;

/// The distance between segments along k is a multiple of this, as are splits, and every tile's depth divides it. So no iteration
/// spans two segments, and splits end between iterations. The padding of a segment is zero and not stored.
pub(in crate::gemm) const SEGMENT_MULTIPLE: u32 = 32;

/// What a product that is summed over segments has in addition to the planes of A and B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Segments {
    /// The planes (1, plane, m, k) of the right factor, if A's planes are products. The left factor is in place of A.
    pub(crate) y: Option<MatrixLayout>,
    /// The plane (1, 1, m, k) of f32 gates that multiplies all products, if they have gates.
    pub(crate) gates: Option<MatrixLayout>,
    /// The inner size of the matrix with the most segments, with padding.
    pub(crate) k: u32,
    /// Distance between the starts of two segments along k.
    pub(crate) step: u32,
    /// Length of a segment along k, without its padding.
    pub(crate) length: u32,
    /// Length of the table of segments, in words.
    pub(crate) words: u32,
    /// The number of segments of all matrices.
    pub(crate) total: u32,
}

/// The source of the planes of operand A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PlaneSource {
    /// They are stored.
    Stored,
    /// Each is a sum of products of planes of two operands.
    Products(Gated),
}

/// Whether the products are multiplied by a plane of f32 gates, the same for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Gated {
    /// No gates.
    No,
    /// Gates.
    Yes,
}

impl Segments {
    /// The source of A's planes.
    pub(in crate::gemm) fn source(&self) -> PlaneSource {
        match (self.y, self.gates) {
            (None, _) => PlaneSource::Stored,
            (Some(_), None) => PlaneSource::Products(Gated::No),
            (Some(_), Some(_)) => PlaneSource::Products(Gated::Yes),
        }
    }

    /// The number of storage bindings in addition to A, B and C: the table, and the sources of a generated A.
    pub(in crate::gemm) fn bindings(&self) -> u32 {
        match self.source() {
            PlaneSource::Stored => 1,
            PlaneSource::Products(Gated::No) => 2,
            PlaneSource::Products(Gated::Yes) => 3,
        }
    }
}
