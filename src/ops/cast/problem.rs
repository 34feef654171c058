//! A checked copy or cast of a view, as plain data.

use crate::Result;
use crate::kernel::shader_dims;
use crate::layout::{Axes, DType, Layout, MAX_RANK, Overflow, known, merged_together};
use crate::ops::packing::per_word;
use crate::ops::vectors::Moves;

shader_dims! {
    /// The uniform of `shaders/ops/cast.wgsl` and `cast_vectors.wgsl`, in elements.
    pub struct CastDims {
        /// of the elements: extent, then 0 and the strides of A; innermost first
        axes: [[u32; 4]; MAX_RANK],
        /// of A's first element in its binding
        a_offset: u32,
        /// number of elements
        count: u32,
        /// number of axes
        rank: u32,
        reserved: u32,
    }
}

/// A checked copy of a view to a contiguous tensor, with a cast if the types differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CastProblem {
    /// The view, relative to its window, with merged axes.
    pub(crate) view: Layout,
    /// Type of the view's elements.
    pub(crate) from: DType,
    /// Type of the copy's elements.
    pub(crate) to: DType,
    /// Treatment of values outside the range of `to`.
    pub(crate) overflow: Overflow,
}

impl CastProblem {
    /// The copy of a view from type `from` to type `to`. The view must not be empty.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if the view exceeds 32-bit indices.
    pub fn new(view: &Layout, from: DType, to: DType, overflow: Overflow) -> Result<Self> {
        let view = view.in_window(from);
        let view = if view.is_empty() { view } else { merged_together([view], 0..view.rank())[0] };
        view.check_dims(op(from, to))?;
        Ok(Self { view, from, to, overflow })
    }

    /// The shaders' uniform.
    #[must_use]
    pub fn dims(&self) -> CastDims {
        let view = &self.view;
        let (a_offset, count) = (view.offset_in_window(self.from), known(view.len()));
        let mut dims = CastDims { a_offset, count, ..CastDims::default() };
        dims.rank = Axes::of(view.shape(), |axis| [0, view.step(axis)]).put_known(&mut dims.axes);
        dims
    }
}

impl CastProblem {
    /// How the kernel moves elements: in vectors if the view is contiguous and aligned.
    pub(super) fn moves(&self) -> Moves {
        let is_aligned = self.view.offset_in_window(self.from).is_multiple_of(4 * self.quads());
        if self.view.is_contiguous() && is_aligned { Moves::Vectors } else { Moves::Elements }
    }

    /// The number of groups of four elements that the kernel of vectors moves together. Two have 16 bytes if one of the types
    /// has 16 bits.
    pub(super) fn quads(&self) -> u32 {
        if per_word(self.from) == 1 && per_word(self.to) == 1 { 1 } else { 2 }
    }

    /// The number of such groups of an invocation, which together have eight elements.
    pub(super) fn groups_per_invocation(&self) -> u32 {
        2 / self.quads()
    }

    /// The number of workgroups of this many invocations.
    pub(super) fn blocks(&self, lanes: u32) -> u32 {
        let count = known(self.view.len());
        match self.moves() {
            Moves::Elements => count.div_ceil(per_word(self.to)).div_ceil(lanes),
            Moves::Vectors => count.div_ceil(8 * lanes),
        }
    }
}

/// The name of the operation in errors.
pub(super) fn op(from: DType, to: DType) -> &'static str {
    if from == to { "contiguous" } else { "cast" }
}
