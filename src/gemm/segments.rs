//! Products that are summed over segments of k: in each, both operands have other planes, as a table says. Planes of A may
//! be made where others are staged, of products of two operands' planes.

use super::generated::Made;
use super::layouts::{Operand, layout};
use super::precision::Precision;
use super::problem::{GemmDims, GemmProblem, GemmTypes, OP, Pin, Split};
use crate::Result;
use crate::gpu::Caps;
use crate::plan::{Draft, Plan, Problem};
use crate::tensor::{DType, Layout, dim};

/// From where to where segments go along k in whole multiples: each is filled up with zeros, which are not in memory, to one
/// of every tile's steps, and parts of k are multiples of it too.
const SEGMENT: u32 = 32;

/// What changes the kernel's code of a product that is summed over segments, and what it binds of A and B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Segments {
    /// How A's planes come to be.
    pub formed: Formed,
    /// How many planes A, Y and B have.
    pub planes: [u32; 3],
    /// The order of the axes of A's, Y's and B's planes.
    pub orders: [Order; 3],
    /// Words of the table of segments.
    pub words: u32,
    /// Segments of all matrices together.
    pub total: u32,
}

/// Which axis of a plane comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// The outer axis, which the product keeps.
    #[default]
    Outer,
    /// The axis that is summed over.
    K,
}

/// How the planes of operand A come to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Formed {
    /// They are in memory.
    InMemory,
    /// Each is a sum of products of planes of two operands.
    Products(Gated),
}

/// Whether products are multiplied by a plane of f32 that is the same for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gated {
    /// They are not.
    No,
    /// They are.
    Yes,
}

/// The planes of an operand: strides and the first element, in elements. Outer is the axis that the product keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the sentence above has them")]
pub struct Planes {
    pub outer: u32,
    pub k: u32,
    pub plane: u32,
    pub offset: u32,
    /// How many planes there are.
    pub count: u32,
    /// Which axis of a plane comes first.
    pub order: Order,
}

impl Planes {
    /// Of a tensor (plane, .., ..), whose axes 1 and 2 these are.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) for strides of $2^{31}$ or more.
    ///
    /// # Panics
    /// If the layout has not three axes, or `outer` and `k` are not 1 and 2 in either order.
    pub fn of(layout: &Layout, [outer, k]: [usize; 2], dtype: DType) -> Result<Self> {
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

    pub(super) fn starts(&self) -> [u32; 3] {
        [self.offset, self.plane, 0]
    }
}

/// A batch of products that are summed over segments: what a [`GemmProblem`] is made of.
#[derive(Clone, Copy, Debug)]
pub struct Segmented {
    /// Rows and columns of C, and what of each segment is not filled up.
    pub shape: [usize; 3],
    /// Matrices of C, which lie one after another without gaps.
    pub batches: usize,
    /// Segments of the matrix that has most.
    pub longest: usize,
    /// The element types.
    pub types: GemmTypes,
    /// The planes of A; the left operand's, where they are products.
    pub a: Planes,
    /// The right operand's planes, where A's are products.
    pub y: Option<Planes>,
    /// The steps of the gates along the outer axis and along k, where products have gates.
    pub gates: Option<[usize; 2]>,
    /// The planes of B.
    pub b: Planes,
    /// Words of the table of segments.
    pub words: usize,
    /// Segments of all matrices together.
    pub total: usize,
}

impl Segmented {
    /// The problem.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if a size is $2^{31}$ or more.
    pub fn problem(&self) -> Result<GemmProblem> {
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
            // NOTE: what such a product has no other use for (`shaders/common/segments_of_planes.wgsl`).
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

/// What a matrix of a batch is summed over.
#[derive(Clone, Copy, Debug)]
pub enum Segment<'a> {
    /// The product of a plane of A and one of B.
    Planes(u32, u32),
    /// The product of what these words make of A, and a plane of B. A word has a plane of both operands of A, 8 bits each,
    /// and the highest bit where their product is taken away.
    Terms(&'a [u32], u32),
}

/// The table of a batch of matrices, as `shaders/common/segments_of_planes.wgsl` reads it.
#[must_use]
pub fn segment_table(matrices: &[Vec<Segment<'_>>]) -> Vec<u32> {
    let word = |at: usize| u32::try_from(at).unwrap_or(u32::MAX); // a thousand terms and as many segments at most
    let mut at = matrices.len() + 1;
    let mut table = vec![word(at)];
    for segments in matrices {
        at += 3 * segments.len();
        table.push(word(at));
    }
    let mut terms: Vec<u32> = Vec::new();
    for segment in matrices.iter().flatten() {
        match segment {
            Segment::Planes(a, b) => table.extend([*a, *b, 0]),
            Segment::Terms(words, b) => {
                let first = at + terms.len();
                table.extend([word(first), *b, word(first + words.len())]);
                terms.extend_from_slice(words);
            }
        }
    }
    table.extend(terms);
    table
}

impl GemmProblem {
    /// The segments that it is summed over, if it is.
    pub(super) fn segments(&self) -> Option<Segments> {
        match self.made {
            Some(Made::Segments(segments)) => Some(segments),
            _ => None,
        }
    }

    /// Multiply-adds, without those that form an operand.
    pub(super) fn multiply_adds(&self) -> f64 {
        let d = &self.dims;
        match self.segments() {
            // What of each segment is not filled up.
            Some(Segments { total, .. }) => {
                f64::from(total) * f64::from(d.m) * f64::from(d.n) * f64::from(d.bias_col)
            }
            None => f64::from(d.batches) * f64::from(d.m) * f64::from(d.n) * f64::from(d.k),
        }
    }

    /// The right operand of A's products.
    pub(super) fn planes_y(&self) -> Planes {
        let d = &self.dims;
        let (count, order) = self.segments().map_or_else(Default::default, |s| (s.planes[1], s.orders[1]));
        let (plane, offset) = (d.residual_batch0, d.residual_offset);
        Planes { outer: d.residual_row, k: d.residual_col, plane, offset, count, order }
    }

    /// Where the planes of A, Y and B lie.
    pub(super) fn planes(&self, segments: &Segments) -> Result<[Layout; 3]> {
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
    pub(super) fn gates(&self, segments: &Segments) -> Result<Option<Layout>> {
        let d = &self.dims;
        let mut axes = [[d.m, d.residual_batch1], [d.bias_col, d.scaled_row]];
        axes.sort_by_key(|[_, stride]| std::cmp::Reverse(*stride));
        match segments.formed {
            Formed::Products(Gated::Yes) => layout(&axes, 0).map(Some),
            Formed::Products(Gated::No) | Formed::InMemory => Ok(None),
        }
    }
}

impl Segments {
    /// The number of storage bindings beside A, B and C: the table, and what A is formed of.
    pub(super) fn bindings(&self) -> u32 {
        match self.formed {
            Formed::InMemory => 1,
            Formed::Products(Gated::No) => 2,
            Formed::Products(Gated::Yes) => 3,
        }
    }
}

/// A product that is summed over segments, with its table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SegmentedProblem {
    /// The product.
    pub problem: GemmProblem,
    /// What each of its matrices is summed over ([`segment_table`]).
    pub table: Vec<u32>,
}

impl Problem for SegmentedProblem {
    /// Operands: A, B, C; Y and the plane of gates, where A is formed of them. The table is a constant.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(OP, &[], caps);
        let mut operands = Vec::new();
        for (at, operand) in self.problem.operands()?.into_iter().enumerate() {
            let Operand { name, dtype, layout, access } = operand;
            let is_table = at == TABLE;
            operands.push(if is_table {
                draft.constant(&self.table)?
            } else {
                draft.operand(name, dtype, layout, access)
            });
        }
        self.problem.check_bound(caps)?;
        self.problem.alone(&mut draft, &operands)?;
        Ok(draft.finish())
    }

    fn explain(&self, caps: &Caps) -> Result<Plan> {
        Ok(self.plan(caps)?.because(self.problem.explain(caps)?.reasons().iter().cloned()))
    }
}

/// The place of the table among a product's operands.
const TABLE: usize = 3;

/// Why a kernel is not for such products.
pub(super) const ONE_PLANE: &str = "one plane of each operand, not one for each segment of k";
