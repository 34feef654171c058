//! The layouts of a product's operands, in a normal form. Sizes, uniforms, the choice of loads and panels follow from them.

use super::types::{GemmTypes, OP};
use crate::Result;
use crate::layout::{DType, Layout, dim};

/// The layouts of a product's operands. Each has the axes (batch, batch, rows, columns) and an offset within the operand's aligned
/// window. An axis of one index has stride 0. A batch axis along which A or B is repeated has one index, as has every axis along
/// which an operand of the epilogue is repeated. C's row stride is a multiple of four if it has one row, and its columns
/// have stride 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::gemm) struct Layouts {
    /// Rows are m, columns k. If A is generated, its strides are 0 and 1. In a product over segments, the axis before the rows
    /// is that of planes, here and in B, and columns are the elements of a segment.
    pub(in crate::gemm) a: Layout,
    /// Rows are k, columns n. If half of B is generated, the other half.
    pub(in crate::gemm) b: Layout,
    pub(in crate::gemm) c: Layout,
    /// The operands of the epilogue: bias, residual, scales of rows, scales of columns.
    pub(in crate::gemm) extras: [Option<Layout>; 4],
}

impl Layouts {
    /// Index of the bias among the operands of the epilogue.
    pub(super) const BIAS: usize = 0;
    pub(super) const RESIDUAL: usize = 1;
    /// Index of the scales of rows; those of columns follow.
    pub(super) const LINE_SCALES: usize = 2;

    /// The normal form of these layouts of operands of these types, and of these for the epilogue.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if an extent or a stride is $2^{31}$ or more.
    pub(super) fn normal(&self, GemmTypes { ab, c, .. }: GemmTypes, of_extras: [DType; 4]) -> Result<Self> {
        let mut extras = self.extras;
        for (extra, dtype) in extras.iter_mut().zip(of_extras) {
            *extra = extra.map(|extra| normal(&extra, dtype, 4)).transpose()?;
        }
        let (a, b, c) = (normal(&self.a, ab, 2)?, normal(&self.b, ab, 2)?, normal(&self.c, c, 0)?);
        let (&[.., m, n], &[batch0, batch1, row, _]) = (c.shape(), c.strides()) else { return Ok(*self) };
        // The row stride of a single row is never used. A multiple of four lets kernels store whole vectors.
        let row = if m > 1 { row } else { n.max(1).next_multiple_of(4) };
        Ok(Self { a, b, c: c.at(&[batch0, batch1, row, 1], c.offset()), extras })
    }
}

/// A layout of at most four axes with leading axes of one index, so that there are four. Of these, the first `once` have one index
/// if the elements are repeated along them.
///
/// # Errors
/// [`Error::Limit`](crate::Error::Limit) if an extent or a stride is $2^{31}$ or more.
pub(in crate::gemm) fn normal(of: &Layout, dtype: DType, once: usize) -> Result<Layout> {
    let (mut shape, mut strides) = ([1; 4], [0; 4]);
    let missing = 4 - of.rank();
    for axis in 0..of.rank() {
        let (extent, stride) = (of.shape()[axis], of.step(axis));
        dim(OP, extent)?;
        dim(OP, stride)?;
        let is_once = stride == 0 && missing + axis < once;
        shape[missing + axis] = if is_once { extent.min(1) } else { extent };
        strides[missing + axis] = stride;
    }
    Ok(of.with_axes(&shape, &strides).at(&strides, of.offset_in_window(dtype) as usize))
}
