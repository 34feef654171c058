//! A checked copy or cast of a view, as plain data.

use crate::Result;
use crate::layout::{DType, Layout, MAX_RANK, Overflow, dim};
use crate::ops::packing::per_word;
use crate::ops::vectors::Moves;

/// The uniform of `shaders/ops/cast.wgsl` and `cast_vectors.wgsl` (`cast_dims.wgsl`), in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct CastDims {
    pub extents: [u32; 4],
    pub strides: [u32; 4],
    pub extent1: u32,
    pub stride0: u32,
    pub stride1: u32,
    pub a_offset: u32,
    pub count: u32,
    pub reserved0: u32,
    pub reserved1: u32,
    pub reserved2: u32,
}

/// A checked copy of a view to a contiguous tensor, with a cast if the types differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CastProblem {
    /// The shader's uniform.
    pub(crate) dims: CastDims,
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
        let op = op(from, to);
        let missing = MAX_RANK - view.rank();
        let mut extents = [1; MAX_RANK];
        let mut strides = [0; MAX_RANK];
        for (axis, (&extent, &stride)) in view.shape().iter().zip(view.strides()).enumerate() {
            extents[missing + axis] = dim(op, extent)?;
            strides[missing + axis] = if extent == 1 { 0 } else { dim(op, stride)? };
        }
        let [_, extent1, extents @ ..] = extents;
        let [stride0, stride1, strides @ ..] = strides;
        let dims = CastDims {
            extents,
            strides,
            extent1,
            stride0,
            stride1,
            a_offset: view.offset_in_window(from),
            count: dim(op, view.len())?,
            reserved0: 0,
            reserved1: 0,
            reserved2: 0,
        };
        Ok(Self { dims, from, to, overflow })
    }

    /// The layout of the view.
    pub(super) fn layout(&self) -> Result<Layout> {
        let d = &self.dims;
        let inner = d.extents.iter().product::<u32>() * d.extent1;
        let [e2, e3, e4, e5] = d.extents;
        let [s2, s3, s4, s5] = d.strides;
        let shape = [d.count / inner.max(1), d.extent1, e2, e3, e4, e5].map(|extent| extent as usize);
        let strides = [d.stride0, d.stride1, s2, s3, s4, s5].map(|stride| stride as usize);
        Layout::new(op(self.from, self.to), &shape, &strides, d.a_offset as usize, usize::MAX)
    }
}

impl CastProblem {
    /// How the kernel moves elements: in vectors if the view is contiguous and aligned.
    pub(super) fn moves(&self) -> Moves {
        let d = &self.dims;
        let [e2, e3, e4, e5] = d.extents;
        let [s2, s3, s4, s5] = d.strides;
        let inner = [(e5, s5), (e4, s4), (e3, s3), (e2, s2), (d.extent1, d.stride1)];
        let mut next = 1;
        let is_contiguous = inner.into_iter().all(|(extent, stride)| {
            let follows = extent == 1 || stride == next;
            next *= extent;
            follows
        });
        let is_contiguous = is_contiguous && (d.count == next || d.stride0 == next);
        let is_aligned = d.a_offset.is_multiple_of(4 * self.quads());
        if is_contiguous && is_aligned { Moves::Vectors } else { Moves::Elements }
    }

    /// The number of groups of four elements that the vector kernel moves together: two (16 bytes) if one of the types has 16
    /// bits.
    pub(super) fn quads(&self) -> u32 {
        if per_word(self.from) == 1 && per_word(self.to) == 1 { 1 } else { 2 }
    }

    /// The number of such groups per invocation. Together they have eight elements.
    pub(super) fn groups_per_invocation(&self) -> u32 {
        2 / self.quads()
    }

    /// The number of workgroups, each with this number of invocations.
    pub(super) fn blocks(&self, lanes: u32) -> u32 {
        match self.moves() {
            Moves::Elements => self.dims.count.div_ceil(per_word(self.to)).div_ceil(lanes),
            Moves::Vectors => self.dims.count.div_ceil(8 * lanes),
        }
    }
}

/// The name of the operation in errors.
pub(super) fn op(from: DType, to: DType) -> &'static str {
    if from == to { "contiguous" } else { "cast" }
}
