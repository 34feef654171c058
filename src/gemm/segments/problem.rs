//! A product that is summed over segments: what to compute, as plain data.

use crate::Result;
use crate::gemm::generated::Made;
use crate::gemm::layouts::layout;
use crate::gemm::problem::{GemmDims, GemmProblem, GemmTypes, OP, Pin, Split};
use crate::layout::Precision;
use crate::layout::{DType, Layout, dim};

/// From where to where segments go along k in whole multiples: each is filled up with zeros, which are not in memory, to one
/// of every tile's steps, and parts of k are multiples of it too.
const SEGMENT: u32 = 32;

/// What changes the kernel's code of a product that is summed over segments, and what it binds of A and B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Segments {
    /// How A's planes come to be.
    pub(crate) formed: Formed,
    /// The planes of A; the left operand's, where they are products.
    pub(crate) a: Planes,
    /// The right operand's planes, where A's are products.
    pub(crate) y: Planes,
    /// The planes of B.
    pub(crate) b: Planes,
    /// The steps of the gates along the outer axis and along k, where products have gates.
    pub(crate) gates: [u32; 2],
    /// From segment to segment along k.
    pub(crate) step: u32,
    /// How much of k a segment has before it is filled up.
    pub(crate) length: u32,
    /// Words of the table of segments.
    pub(crate) words: u32,
    /// Segments of all matrices together.
    pub(crate) total: u32,
}

/// Which axis of a plane comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Order {
    /// The outer axis, which the product keeps.
    #[default]
    Outer,
    /// The axis that is summed over.
    K,
}

/// How the planes of operand A come to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Formed {
    /// They are in memory.
    InMemory,
    /// Each is a sum of products of planes of two operands.
    Products(Gated),
}

/// Whether products are multiplied by a plane of f32 that is the same for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Gated {
    /// They are not.
    No,
    /// They are.
    Yes,
}

/// The planes of an operand: strides and the first element, in elements. Outer is the axis that the product keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Planes {
    pub(crate) outer: u32,
    pub(crate) k: u32,
    pub(crate) plane: u32,
    pub(crate) offset: u32,
    /// How many planes there are.
    pub(crate) count: u32,
    /// Which axis of a plane comes first.
    pub(crate) order: Order,
}

impl Planes {
    /// Of a tensor (plane, .., ..), whose axes 1 and 2 these are.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) for strides of $2^{31}$ or more.
    ///
    /// # Panics
    /// If the layout has not three axes, or `outer` and `k` are not 1 and 2 in either order.
    pub(crate) fn of(layout: &Layout, [outer, k]: [usize; 2], dtype: DType) -> Result<Self> {
        assert_eq!((layout.rank(), outer.min(k), outer.max(k)), (3, 1, 2));
        // Without a second index there is no step, and what it is should not matter.
        let step = |axis| dim(OP, if layout.shape()[axis] > 1 { layout.strides()[axis] } else { 0 });
        let order = if outer < k { Order::Outer } else { Order::K };
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
        if self.order == Order::K {
            axes.swap(1, 2);
        }
        layout(&axes, self.offset)
    }

    pub(in crate::gemm) fn starts(&self) -> [u32; 3] {
        [self.offset, self.plane, 0]
    }
}

/// A batch of products that are summed over segments: what a [`GemmProblem`] is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segmented {
    /// Rows and columns of C, and what of each segment is not filled up.
    pub(crate) shape: [usize; 3],
    /// Matrices of C, which lie one after another without gaps.
    pub(crate) batches: usize,
    /// Segments of the matrix that has most.
    pub(crate) longest: usize,
    /// The element types.
    pub(crate) types: GemmTypes,
    /// The planes of A; the left operand's, where they are products.
    pub(crate) a: Planes,
    /// The right operand's planes, where A's are products.
    pub(crate) y: Option<Planes>,
    /// The steps of the gates along the outer axis and along k, where products have gates.
    pub(crate) gates: Option<[usize; 2]>,
    /// The planes of B.
    pub(crate) b: Planes,
    /// Words of the table of segments.
    pub(crate) words: usize,
    /// Segments of all matrices together.
    pub(crate) total: usize,
}

impl Segmented {
    /// The problem.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if a size is $2^{31}$ or more.
    pub(crate) fn problem(&self) -> Result<GemmProblem> {
        let Self { shape: [m, n, k], batches, a, b, types, .. } = *self;
        let y = self.y.unwrap_or_default();
        let [gates_outer, gates_k] = self.gates.unwrap_or_default();
        let filled = dim(OP, k)?.next_multiple_of(SEGMENT);
        let all = dim(OP, self.longest * filled as usize)?;
        dim(OP, batches * m * n)?;
        let dims = GemmDims {
            m: dim(OP, m)?,
            n: dim(OP, n)?,
            k: all,
            k_part: all,
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
        let formed = match (self.y, self.gates) {
            (None, _) => Formed::InMemory,
            (Some(_), None) => Formed::Products(Gated::No),
            (Some(_), Some(_)) => Formed::Products(Gated::Yes),
        };
        let segments = Segments {
            formed,
            a,
            y,
            b,
            gates: [dim(OP, gates_outer)?, dim(OP, gates_k)?],
            step: filled,
            length: dim(OP, k)?,
            words: dim(OP, self.words)?,
            total: dim(OP, self.total)?,
        };
        let (epilogue, pin, split) = (Default::default(), Pin::Free, Split::Free);
        let (precision, made) = (Precision::Strict, Some(Made::Segments(segments)));
        Ok(GemmProblem { dims, types, epilogue, pin, split, precision, made })
    }
}

/// A product that is summed over segments, with its table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SegmentedProblem {
    /// The product.
    pub(crate) problem: GemmProblem,
    /// What each of its matrices is summed over ([`segment_table`](super::segment_table)).
    pub(crate) table: Vec<u32>,
}

impl SegmentedProblem {
    /// The product. Its own plan is refused, as it lacks the table.
    #[must_use]
    pub fn product(&self) -> &GemmProblem {
        &self.problem
    }

    /// What each of the product's matrices is summed over.
    #[must_use]
    pub fn table(&self) -> &[u32] {
        &self.table
    }

    /// The same problem, its plan restricted.
    #[must_use]
    pub fn pinned(self, pin: Pin) -> Self {
        Self { problem: self.problem.pinned(pin), ..self }
    }

    /// The same problem, in so many parts of k.
    #[must_use]
    pub fn split(self, split: Split) -> Self {
        Self { problem: self.problem.split(split), ..self }
    }
}

impl GemmProblem {
    /// The segments that it is summed over, if it is.
    pub(in crate::gemm) fn segments(&self) -> Option<Segments> {
        match self.made {
            Some(Made::Segments(segments)) => Some(segments),
            _ => None,
        }
    }
}

/// The uniform of a product that is summed over segments (`shaders/gemm/gemm_dims.wgsl`), in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct SegmentDims {
    pub m: u32,
    pub n: u32,
    pub k: u32,
    pub k_part: u32,
    pub batches: u32,
    pub splits: u32,
    pub segment_step: u32,
    pub segment_length: u32,
    pub a_outer: u32,
    pub a_k: u32,
    pub a_offset: u32,
    pub a_plane: u32,
    pub b_outer: u32,
    pub b_k: u32,
    pub b_offset: u32,
    pub b_plane: u32,
    pub y_outer: u32,
    pub y_k: u32,
    pub y_offset: u32,
    pub y_plane: u32,
    pub gates_outer: u32,
    pub gates_k: u32,
    pub ldc: u32,
    pub reserved: u32,
}

impl Segments {
    /// The uniform of a launch that computes all parts of a product of these sizes.
    pub(in crate::gemm) fn dims(&self, d: &GemmDims) -> SegmentDims {
        let Self { a, y, b, gates: [gates_outer, gates_k], step, length, .. } = *self;
        SegmentDims {
            m: d.m,
            n: d.n,
            k: d.k,
            k_part: d.k_part,
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

    /// Where the planes of A, Y and B lie.
    pub(in crate::gemm) fn layouts(&self, d: &GemmDims) -> Result<[Layout; 3]> {
        let Self { a, y, b, length: k, .. } = self;
        Ok([a.layout([d.m, *k])?, y.layout([d.m, *k])?, b.layout([d.n, *k])?])
    }

    /// Where the plane of gates lies, if there is one.
    pub(in crate::gemm) fn gates_layout(&self, d: &GemmDims) -> Result<Option<Layout>> {
        let [outer, k] = self.gates;
        let mut axes = [[d.m, outer], [self.length, k]];
        axes.sort_by_key(|[_, stride]| std::cmp::Reverse(*stride));
        match self.formed {
            Formed::Products(Gated::Yes) => layout(&axes, 0).map(Some),
            Formed::Products(Gated::No) | Formed::InMemory => Ok(None),
        }
    }
}
