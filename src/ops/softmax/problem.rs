//! A checked softmax or gradient of one, as plain data.

use super::function::SoftmaxFunction;
use crate::Result;
use crate::caps::Caps;
use crate::kernel::shader_dims;
use crate::layout::{DType, Layout, MAX_RANK};
use crate::ops::lines::{Across, Lines};
use crate::ops::vectors::{Moves, column_quads, quads};

shader_dims! {
    /// The uniform of `shaders/ops/softmax.wgsl`, `softmax_columns.wgsl`, `softmax_backward.wgsl` and
    /// `softmax_backward_columns.wgsl` (`softmax_dims.wgsl`), in elements.
    pub struct SoftmaxDims {
        /// of the rows: extent, then the strides of C, A and M; innermost first
        axes: [[u32; 4]; MAX_RANK - 1],
        /// along the axis: of C, A and M; then its length
        strides: [u32; 4],
        /// first elements in their bindings
        a_offset: u32,
        m_offset: u32,
        /// without the innermost axis if it has the columns
        rows: u32,
        /// number of axes of the rows
        rank: u32,
        /// invocations that share a row: a power of two, at most LANES; or groups of columns
        lanes: u32,
        /// of x
        scale: f32,
        /// invocations that share a group of columns: a power of two, at most LANES
        parts: u32,
        reserved: u32,
    }
}

/// A checked softmax or gradient of one along an axis, and the number of elements is below $2^{31}$. The result is contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SoftmaxProblem {
    /// The function.
    pub(super) function: SoftmaxFunction,
    /// Type of all elements.
    pub(super) dtype: DType,
    /// The operand, relative to its window: x or y.
    pub(super) a: Layout,
    /// The mask, broadcast to the shape of the operand, or the gradient of y.
    pub(super) m: Option<Layout>,
    /// The axis.
    pub(super) axis: usize,
    /// The lines along the axis.
    pub(super) lines: Lines,
}

impl SoftmaxProblem {
    /// `function` along an axis of `a`, a view of `dtype` elements. The second operand `m` is the mask of a softmax, which
    /// broadcasts to `a`, or the gradient of the result `a`. The views must not be empty.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if `a` has no such axis or is empty, if a mask does not broadcast to `a`, or a
    /// gradient has another shape;
    /// [`Error::Limit`](crate::Error::Limit) if a size is $2^{31}$ or more.
    pub fn new(
        function: SoftmaxFunction,
        a: &Layout,
        m: Option<&Layout>,
        axis: usize,
        dtype: DType,
    ) -> Result<Self> {
        let op = function.op();
        function.check(a, m, axis)?;
        let strides = m.map(|m| m.broadcast_strides(op, a)).transpose()?.unwrap_or_default();
        let lines = Lines::new(op, a, &strides, axis)?;
        let broadcast = |m: &Layout| Layout::new(op, a.shape(), &strides[..a.rank()], m.offset(), usize::MAX);
        let m = m.map(broadcast).transpose()?;
        let (a, m) = (a.in_window(dtype), m.map(|m| m.in_window(dtype)));
        Ok(Self { function, dtype, a, m, axis, lines })
    }

    /// The shaders' uniform, without the fields that depend on the device and the call.
    #[must_use]
    pub fn dims(&self) -> SoftmaxDims {
        let lines = &self.lines;
        SoftmaxDims {
            axes: lines.axes,
            strides: lines.strides,
            a_offset: self.a.offset_in_window(self.dtype),
            m_offset: self.m.map_or(0, |m| m.offset_in_window(self.dtype)),
            rows: lines.rows(),
            rank: lines.rank,
            lanes: 1,
            parts: 1,
            scale: 1.0,
            ..SoftmaxDims::default()
        }
    }

    /// How the kernel moves elements: those of the operand and the result, and those of a gradient.
    pub(super) fn moves(&self) -> Moves {
        let d = self.dims();
        if self.function.is_backward() {
            return self.lines.moves(self.dtype, &[1, 2, 3], &[d.a_offset, d.m_offset]);
        }
        self.lines.moves(self.dtype, &[1, 2], &[d.a_offset])
    }

    /// Groups of four elements that an invocation loads together.
    pub(super) fn quads(&self, caps: &Caps) -> u32 {
        match (self.moves(), self.lines.across) {
            (Moves::Elements, _) => 1,
            (Moves::Vectors, Across::Row) => quads(self.dtype),
            (Moves::Vectors, Across::Columns) => {
                let d = self.dims();
                let others = d.axes[1..d.rank as usize].iter().flat_map(|axis| axis[1..].iter().copied());
                let offsets = [d.axes[0][0], d.a_offset, d.m_offset];
                column_quads(self.dtype, caps, others.chain(d.strides[..3].iter().copied()).chain(offsets))
            }
        }
    }
}
