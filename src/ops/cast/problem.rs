//! A checked copy or cast of a view, as plain data.

use crate::Result;
use crate::layout::{DType, Layout, MAX_RANK, Overflow, dim};

/// The uniform of `shaders/ops/cast.wgsl`, in elements.
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

/// The name of the operation in errors.
pub(super) fn op(from: DType, to: DType) -> &'static str {
    if from == to { "contiguous" } else { "cast" }
}
