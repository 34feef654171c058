//! The layouts of a product's operands, in a normal form. Sizes, uniforms, the choice of loads and panels follow from them.

use super::types::{GemmTypes, OP};
use crate::Result;
use crate::layout::{DType, Layout, dim};

/// A layout (batch, batch, rows, columns) from the start of the operand's aligned window. An axis of one index has stride 0. It takes
/// a third of a [`Layout`]'s bytes: each call copies and compares it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct MatrixLayout {
    pub(in crate::gemm) shape: [u32; 4],
    pub(in crate::gemm) strides: [u32; 4],
    pub(in crate::gemm) offset: u32,
}

/// The layouts of a product's operands: [`MatrixLayout`] in a problem, [`Layout`] if it is cut.
///
/// In a problem, a batch axis along which A or B is repeated has one index, as has every axis along which an operand of the
/// epilogue is repeated. C's row stride is a multiple of four if it has one row, and its columns have stride 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::gemm) struct Layouts<L> {
    /// Rows are m, columns k. If A is generated, its strides are 0 and 1. In a product over segments, the axis before the rows
    /// is that of planes, here and in B, and columns are the elements of a segment. If A's rows are windows, the image (image,
    /// line, column, channel), or a volume (plane, line, column, channel), of whose channels each matrix of the batch has a group.
    pub(in crate::gemm) a: L,
    /// Rows are k, columns n. If half of B is generated, the other half. If its rows are windows, the image; if they are taps and
    /// channels of windows, (tap line, tap column, channel, n).
    pub(in crate::gemm) b: L,
    pub(in crate::gemm) c: L,
    /// The operands of the epilogue: bias, residual, scales of rows, scales of columns.
    pub(in crate::gemm) extras: [Option<L>; 4],
}

/// Index of the bias among the operands of the epilogue.
pub(super) const BIAS: usize = 0;
pub(super) const RESIDUAL: usize = 1;
/// Index of the scales of rows; those of columns follow.
pub(super) const LINE_SCALES: usize = 2;

impl Layouts<Layout> {
    /// The normal form of these layouts of operands of these types, and of these for the epilogue.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if an extent or a stride is $2^{31}$ or more.
    pub(super) fn normal(
        &self,
        GemmTypes { ab, c, .. }: GemmTypes,
        of_extras: [DType; 4],
    ) -> Result<Layouts<MatrixLayout>> {
        let mut extras = [None; 4];
        for ((normal, extra), dtype) in extras.iter_mut().zip(&self.extras).zip(of_extras) {
            if let Some(extra) = extra {
                *normal = Some(MatrixLayout::of(extra, dtype, 4)?);
            }
        }
        let (a, b) = (MatrixLayout::of(&self.a, ab, 2)?, MatrixLayout::of(&self.b, ab, 2)?);
        Ok(Layouts { a, b, c: MatrixLayout::of_output(&self.c, c)?, extras })
    }
}

impl Layouts<MatrixLayout> {
    /// The same layouts, which can be cut.
    pub(in crate::gemm) fn layouts(&self) -> Layouts<Layout> {
        let Self { a, b, c, extras } = self;
        let extras = extras.map(|extra| extra.map(|extra| extra.layout()));
        Layouts { a: a.layout(), b: b.layout(), c: c.layout(), extras }
    }
}

impl MatrixLayout {
    /// A layout of at most four axes. If the elements are repeated along one of the first `once` axes, of four, it has one index.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if an extent or a stride is $2^{31}$ or more.
    pub(in crate::gemm) fn of(of: &Layout, dtype: DType, once: usize) -> Result<Self> {
        let (mut shape, mut strides) = ([1; 4], [0; 4]);
        let missing = 4 - of.rank();
        for axis in 0..of.rank() {
            let (extent, stride) = (dim(OP, of.shape()[axis])?, dim(OP, of.step(axis))?);
            let is_once = stride == 0 && missing + axis < once;
            shape[missing + axis] = if is_once { extent.min(1) } else { extent };
            strides[missing + axis] = stride;
        }
        Ok(Self { shape, strides, offset: of.offset_in_window(dtype) })
    }

    /// The layout of C.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub(super) fn of_output(c: &Layout, dtype: DType) -> Result<Self> {
        let mut c = Self::of(c, dtype, 0)?;
        let [.., m, n] = c.shape;
        // The row stride of a single row is never used. A multiple of four lets kernels store whole vectors.
        c.strides[2] = if m > 1 { c.strides[2] } else { n.max(1).next_multiple_of(4) };
        c.strides[3] = 1;
        Ok(c)
    }

    /// The same layout.
    pub(in crate::gemm) fn layout(&self) -> Layout {
        let [shape, strides] = [self.shape, self.strides].map(|of| of.map(|size| size as usize));
        Layout::line(0).with_axes(&shape, &strides).at(&strides, self.offset as usize)
    }

    /// The same shape without gaps, from the start of a buffer.
    pub(super) fn dense(&self) -> Self {
        let (mut strides, mut stride) = ([0; 4], 1u32);
        for axis in (0..4).rev() {
            strides[axis] = stride;
            stride = stride.saturating_mul(self.shape[axis].max(1));
        }
        Self { strides, offset: 0, ..*self }
    }
}
