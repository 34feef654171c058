//! A product that is summed over segments: what to compute, as plain data.

use crate::Result;
use crate::gemm::generated::Made;
use crate::gemm::layouts::layout;
use crate::gemm::precision::Precision;
use crate::gemm::problem::{GemmDims, GemmProblem, GemmTypes, OP, Pin, Split};
use crate::tensor::{DType, Layout, dim};

/// From where to where segments go along k in whole multiples: each is filled up with zeros, which are not in memory, to one
/// of every tile's steps, and parts of k are multiples of it too.
const SEGMENT: u32 = 32;

/// What changes the kernel's code of a product that is summed over segments, and what it binds of A and B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Segments {
    /// How A's planes come to be.
    pub(crate) formed: Formed,
    /// How many planes A, Y and B have.
    pub(crate) planes: [u32; 3],
    /// The order of the axes of A's, Y's and B's planes.
    pub(crate) orders: [Order; 3],
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
            a_batch0: a.plane,
            b_outer: b.outer,
            b_k: b.k,
            b_offset: b.offset,
            b_batch0: b.plane,
            ldc: dim(OP, n)?,
            c_batch1: dim(OP, m * n)?,
            // NOTE: what such a product has no other use for (`shaders/gemm/segments.wgsl`).
            bias_row: filled,
            bias_col: dim(OP, k)?,
            residual_row: y.outer,
            residual_col: y.k,
            residual_offset: y.offset,
            residual_batch0: y.plane,
            residual_batch1: dim(OP, gates_outer)?,
            scaled_row: dim(OP, gates_k)?,
            ..GemmDims::default()
        };
        let formed = match (self.y, self.gates) {
            (None, _) => Formed::InMemory,
            (Some(_), None) => Formed::Products(Gated::No),
            (Some(_), Some(_)) => Formed::Products(Gated::Yes),
        };
        let segments = Segments {
            formed,
            planes: [a.count, y.count, b.count],
            orders: [a.order, y.order, b.order],
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

    /// The right operand of A's products.
    pub(in crate::gemm) fn planes_y(&self) -> Planes {
        let d = &self.dims;
        let (count, order) = self.segments().map_or_else(Default::default, |s| (s.planes[1], s.orders[1]));
        let (plane, offset) = (d.residual_batch0, d.residual_offset);
        Planes { outer: d.residual_row, k: d.residual_col, plane, offset, count, order }
    }

    /// Where the planes of A, Y and B lie.
    pub(in crate::gemm) fn planes(&self, segments: &Segments) -> Result<[Layout; 3]> {
        let d = &self.dims;
        // What of each segment is not filled up.
        let k = d.bias_col;
        let ([of_a, _, of_b], [order_a, _, order_b]) = (segments.planes, segments.orders);
        let a = (d.a_outer, d.a_k, d.a_batch0, d.a_offset, of_a, order_a);
        let b = (d.b_outer, d.b_k, d.b_batch0, d.b_offset, of_b, order_b);
        let of = |(outer, k, plane, offset, count, order)| Planes { outer, k, plane, offset, count, order };
        Ok([of(a).layout([d.m, k])?, self.planes_y().layout([d.m, k])?, of(b).layout([d.n, k])?])
    }

    /// Where the plane of gates lies, if there is one.
    pub(in crate::gemm) fn gates(&self, segments: &Segments) -> Result<Option<Layout>> {
        let d = &self.dims;
        let mut axes = [[d.m, d.residual_batch1], [d.bias_col, d.scaled_row]];
        axes.sort_by_key(|[_, stride]| std::cmp::Reverse(*stride));
        match segments.formed {
            Formed::Products(Gated::Yes) => layout(&axes, 0).map(Some),
            Formed::Products(Gated::No) | Formed::InMemory => Ok(None),
        }
    }
}
