//! A sparse operator along an axis of a tensor, checked, as plain data.

use crate::gemm::SeedSource;
use crate::kernel::shader_dims;
use crate::layout::{DType, Layout, dim, known};
use crate::sketch::operator::axis::SketchOperand;
use crate::sketch::operator::sparse_lines::{LineAxis, PositionDraw, SparseLines};
use crate::sketch::operator::{Direction, OP, Sketch};
use crate::{Error, Result};

shader_dims! {
    /// The uniform of the sparse shaders (`shaders/sketch/sparse.wgsl`), in elements. In a problem, seed and scale are 0: a
    /// launch takes them as scalars, or the plan writes the offsets of the seed's words in its tensor.
    pub struct SparseDims {
        lines: u32,
        positions: u32,
        /// per line
        nonzeros: u32,
        /// 1: positions of a line are distinct, 0: they are independent
        distinct: u32,
        /// the words of the seed, or their places in the tensor that holds it
        seed_low: u32,
        seed_high: u32,
        /// last word of the Philox counter
        tag: u32,
        scale: u32 as f32,
        columns: u32,
        /// extents of the innermost axis of the columns, and of the next
        extent0: u32,
        extent1: u32,
        /// first element of X in its binding
        x_offset: u32,
        /// strides of X: along the operator's axis, and along the axes of the columns
        x_axis: u32,
        x_stride0: u32,
        x_stride1: u32,
        x_stride2: u32,
        /// strides of Y
        y_axis: u32,
        y_stride0: u32,
        y_stride1: u32,
        y_stride2: u32,
        /// rows of Y of a workgroup: a power of two if they are positions
        rows: u32,
        /// columns of a workgroup
        width: u32,
        /// lines that a workgroup sums
        split_lines: u32,
        /// lines that it lists at once, if their nonzeros fit
        chunk: u32,
        splits: u32,
        /// elements from the sums of one split to those of the next
        y_split: u32,
        reserved0: u32,
        reserved1: u32,
    }
}

/// The use of an operator's lines: to gather or to scatter rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SparseMethod {
    /// Each line gives a row of the result: the sum of the operand's rows at the line's positions.
    Gather,
    /// Each line belongs to a row of the operand. This row is added to the result's rows at the line's positions.
    Scatter,
}

/// A sparse operator along an axis of a tensor, checked: extents agree, and every size is below $2^{31}$.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SparseProblem {
    pub(super) lines: SparseLines,
    /// Whether lines gather or scatter.
    pub(super) method: SparseMethod,
    pub(super) operand: SketchOperand,
}

impl SparseProblem {
    /// The sparse operator `sketch`, or its transpose, along an axis of `x`, a view of `dtype` elements. The result is
    /// contiguous and has elements.
    ///
    /// # Errors
    /// [`Error::Input`] if the operator is not sparse; [`Error::Shape`] if `x` has no such axis, if the axis does not
    /// have the extent of the operator's lines, if the other axes do not merge into three, or if the result is empty;
    /// [`Error::Limit`] if a size is $2^{31}$ or more.
    pub fn new(sketch: &Sketch, direction: Direction, x: &Layout, axis: usize, dtype: DType) -> Result<Self> {
        let operand = SketchOperand::new(sketch, direction, x, axis, dtype)?;
        operand.steps()?;
        operand.check_elements(sketch.shape())?;
        let lines =
            sketch.sparse_lines().ok_or_else(|| Error::input("sketch", "the operator is not sparse"))?;
        // Columns of the operator belong to rows of the operand; columns of the adjoint to rows of the result.
        let method = match (direction, lines.axis) {
            (Direction::Forward, LineAxis::Columns) | (Direction::Adjoint, LineAxis::Rows) => {
                SparseMethod::Scatter
            }
            (Direction::Forward, LineAxis::Rows) | (Direction::Adjoint, LineAxis::Columns) => {
                SparseMethod::Gather
            }
        };
        let problem = Self { lines, method, operand };
        problem.dims().map(|_| problem)
    }

    /// The same problem with the seed from another place.
    #[must_use]
    pub fn seeded(self, seed: SeedSource) -> Self {
        Self { operand: SketchOperand { seed, ..self.operand }, ..self }
    }

    /// The sizes in the shaders' uniform, without those that a plan decides.
    pub(super) fn dims(&self) -> Result<SparseDims> {
        let (layout, lines) = (self.operand.steps()?, &self.lines);
        let others = &layout.others;
        let extent = |i: usize| dim(OP, others.get(i).extent);
        let x = |i: usize| dim(OP, others.get(i).strides[0]);
        let y = |i: usize| dim(OP, others.get(i).strides[1]);
        dim(OP, layout.shape.iter().product())?;
        Ok(SparseDims {
            lines: dim(OP, layout.extents[usize::from(self.method == SparseMethod::Gather)])?,
            positions: lines.length,
            nonzeros: lines.nonzeros,
            distinct: u32::from(lines.positions == PositionDraw::Distinct),
            tag: lines.tag,
            columns: dim(OP, others.iter().map(|axis| axis.extent).product())?,
            extent0: extent(0)?,
            extent1: extent(1)?,
            x_offset: self.operand.x.offset_in_window(self.operand.dtype),
            x_axis: dim(OP, layout.strides[0])?,
            x_stride0: x(0)?,
            x_stride1: x(1)?,
            x_stride2: x(2)?,
            y_axis: dim(OP, layout.strides[1])?,
            y_stride0: y(0)?,
            y_stride1: y(1)?,
            y_stride2: y(2)?,
            ..SparseDims::default()
        })
    }

    /// Number of rows of operand and result.
    pub(super) fn rows(&self) -> [u32; 2] {
        [self.operand.x.shape()[self.operand.axis], self.operand.extent].map(known)
    }

    /// Whether the kernel can load two neighbouring f32 columns as 64 bits: columns are contiguous, and pairs are
    /// aligned.
    pub(super) fn has_pairs(&self, d: &SparseDims) -> bool {
        let even = [d.extent0, d.x_offset, d.x_axis, d.x_stride1, d.x_stride2].iter().all(|n| n % 2 == 0);
        self.operand.dtype == DType::F32 && [d.x_stride0, d.y_stride0] == [1, 1] && even
    }

    /// Number of elements of the result.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.operand.elements()
    }
}
