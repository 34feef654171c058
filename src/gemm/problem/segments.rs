//! The segments of a product: ranges of k in which the operands' planes are looked up in a table.

use super::dims::{GemmDims, OP, SegmentDims, layout};
use crate::Result;
use crate::layout::{DType, Layout, dim};

/// The distance between segments along k is a multiple of this, as are splits, and every tile's depth divides it. So no iteration
/// spans two segments, and splits end between iterations. The padding of a segment is zero and not stored.
pub(in crate::gemm) const SEGMENT_MULTIPLE: u32 = 32;

/// The operands of a product that is summed over segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Segments {
    /// Source of A's planes.
    pub(crate) source: PlaneSource,
    /// The planes of A; those of the left factor if A's planes are products.
    pub(crate) a: OperandPlanes,
    /// The planes of the right factor if A's planes are products.
    pub(crate) y: OperandPlanes,
    /// The planes of B.
    pub(crate) b: OperandPlanes,
    /// Strides of the gates along the outer axis and along k, if products have gates.
    pub(crate) gates: [u32; 2],
    /// Distance between the starts of two segments along k.
    pub(crate) step: u32,
    /// Length of a segment along k, without its padding.
    pub(crate) length: u32,
    /// Length of the table of segments, in words.
    pub(crate) words: u32,
    /// The number of segments of all matrices.
    pub(crate) total: u32,
}

/// The first axis of a plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum PlaneOrder {
    /// The outer axis.
    #[default]
    Outer,
    /// The inner axis, k.
    K,
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

/// The planes of an operand: strides and offset of the first one, in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct OperandPlanes {
    pub(crate) outer: u32,
    pub(crate) k: u32,
    pub(crate) plane: u32,
    pub(crate) offset: u32,
    /// The number of planes.
    pub(crate) count: u32,
    /// The first axis of a plane.
    pub(crate) order: PlaneOrder,
}

impl OperandPlanes {
    /// The planes of a tensor (plane, .., ..). `outer` and `k` are its axes 1 and 2 in either order.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) for strides of $2^{31}$ or more.
    ///
    /// # Panics
    /// If the layout does not have three axes, or `outer` and `k` are not 1 and 2.
    pub(crate) fn of(layout: &Layout, [outer, k]: [usize; 2], dtype: DType) -> Result<Self> {
        assert_eq!((layout.rank(), outer.min(k), outer.max(k)), (3, 1, 2));
        // The stride of an axis of one element is never used: 0, so that equal problems compare equal.
        let step = |axis| dim(OP, layout.step(axis));
        let order = if outer < k { PlaneOrder::Outer } else { PlaneOrder::K };
        Ok(Self {
            outer: step(outer)?,
            k: step(k)?,
            plane: step(0)?,
            offset: layout.offset_in_window(dtype),
            count: dim(OP, layout.shape()[0])?,
            order,
        })
    }

    fn layout(&self, [outer, k]: [u32; 2]) -> Result<Layout> {
        let mut axes = [[self.count, self.plane], [outer, self.outer], [k, self.k]];
        if self.order == PlaneOrder::K {
            axes.swap(1, 2);
        }
        layout(&axes, self.offset)
    }

    /// The offset and the strides that add up to the start of a plane.
    pub(in crate::gemm) fn starts(&self) -> [u32; 3] {
        [self.offset, self.plane, 0]
    }
}

impl Segments {
    /// The uniform of a launch that computes all splits of a product with these dims.
    pub(in crate::gemm) fn dims(&self, d: &GemmDims) -> SegmentDims {
        let Self { a, y, b, gates: [gates_outer, gates_k], step, length, .. } = *self;
        SegmentDims {
            m: d.m,
            n: d.n,
            k: d.k,
            k_per_split: d.k_per_split,
            batches: d.batches,
            splits: d.splits,
            segment_step: step,
            segment_length: length,
            a_outer: a.outer,
            a_k: a.k,
            a_offset: a.offset,
            a_plane: a.plane,
            b_outer: b.outer,
            b_k: b.k,
            b_offset: b.offset,
            b_plane: b.plane,
            y_outer: y.outer,
            y_k: y.k,
            y_offset: y.offset,
            y_plane: y.plane,
            gates_outer,
            gates_k,
            ldc: d.ldc,
            reserved: 0,
        }
    }

    /// The layouts of the planes of A, Y and B.
    pub(in crate::gemm) fn layouts(&self, d: &GemmDims) -> Result<[Layout; 3]> {
        let Self { a, y, b, length: k, .. } = self;
        Ok([a.layout([d.m, *k])?, y.layout([d.m, *k])?, b.layout([d.n, *k])?])
    }

    /// The layout of the plane of gates, if there is one.
    pub(in crate::gemm) fn gates_layout(&self, d: &GemmDims) -> Result<Option<Layout>> {
        let [outer, k] = self.gates;
        let mut axes = [[d.m, outer], [self.length, k]];
        axes.sort_by_key(|[_, stride]| std::cmp::Reverse(*stride));
        match self.source {
            PlaneSource::Products(Gated::Yes) => layout(&axes, 0).map(Some),
            PlaneSource::Products(Gated::No) | PlaneSource::Stored => Ok(None),
        }
    }

    /// The number of storage bindings in addition to A, B and C: the table, and the sources of a generated A.
    pub(in crate::gemm) fn bindings(&self) -> u32 {
        match self.source {
            PlaneSource::Stored => 1,
            PlaneSource::Products(Gated::No) => 2,
            PlaneSource::Products(Gated::Yes) => 3,
        }
    }
}
