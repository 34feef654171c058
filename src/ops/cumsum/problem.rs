//! A checked cumulative sum, as plain data.

use crate::kernel::shader_dims;
use crate::layout::{DType, Layout, MAX_RANK};
use crate::ops::lines::Lines;
use crate::ops::vectors::Moves;
use crate::{Error, Result};

/// The name in errors and plans.
pub(super) const OP: &str = "cumsum";

shader_dims! {
    /// The uniform of `shaders/ops/cumsum.wgsl` and `cumsum_columns.wgsl` (`cumsum_dims.wgsl`), in elements.
    pub struct CumsumDims {
        /// of the rows: extent, then the strides of C, A and M; innermost first
        axes: [[u32; 4]; MAX_RANK - 1],
        /// along the axis: of C and A; then 0, and its length
        strides: [u32; 4],
        /// of A's first element in its binding
        a_offset: u32,
        /// without the innermost axis if it has the columns
        rows: u32,
        /// number of axes of the rows
        rank: u32,
        /// invocations that share a part: a power of two, at most LANES; or groups of columns
        lanes: u32,
        /// of a row
        parts: u32,
        /// elements of a part: a multiple of a vector
        chunk: u32,
        reserved0: u32,
        reserved1: u32,
    }
}

/// A checked cumulative sum along an axis. The number of elements is below $2^{31}$. The result is contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CumsumProblem {
    /// Type of all elements.
    pub(super) dtype: DType,
    /// The operand, relative to its window.
    pub(super) a: Layout,
    /// The axis.
    pub(super) axis: usize,
    /// The lines along the axis.
    pub(super) lines: Lines,
}

impl CumsumProblem {
    /// The cumulative sum along an axis of `a`, a view of `dtype` elements. The view must not be empty.
    ///
    /// # Errors
    /// [`Error::Shape`] if `a` has no such axis or is empty; [`Error::Input`] if the elements are integers; [`Error::Limit`] if
    /// a size is $2^{31}$ or more.
    pub fn new(a: &Layout, axis: usize, dtype: DType) -> Result<Self> {
        check_axis(a, axis)?;
        if !dtype.is_real() {
            return Err(Error::input(
                format!("{OP}: the elements"),
                format!("they must be reals, not {dtype}"),
            ));
        }
        let mut lines = Lines::new(OP, a, &[0; MAX_RANK], axis)?;
        // The sums of parts are in the order of the rows.
        let mut stride = 1;
        for outer in &mut lines.axes[..lines.rank as usize] {
            outer[3] = stride;
            stride *= outer[0];
        }
        Ok(Self { dtype, a: a.in_window(dtype), axis, lines })
    }

    /// The uniform, for a number of parts, each with at most `chunk` elements.
    pub(super) fn dims(&self, lanes: u32, parts: u32, chunk: u32) -> CumsumDims {
        let lines = &self.lines;
        let mut axes = lines.axes;
        axes.iter_mut().for_each(|axis| axis[3] *= parts);
        CumsumDims {
            axes,
            strides: lines.strides,
            a_offset: self.a.offset_in_window(self.dtype),
            rows: lines.rows(),
            rank: lines.rank,
            lanes,
            parts,
            chunk,
            ..CumsumDims::default()
        }
    }

    /// How the kernels move elements.
    pub(super) fn moves(&self) -> Moves {
        self.lines.moves(self.dtype, &[1, 2], &[self.a.offset_in_window(self.dtype)])
    }

    /// Groups of four elements that an invocation loads together.
    pub(super) fn quads(&self) -> u32 {
        self.moves().quads(self.dtype)
    }
}

/// Checks that `a` has this axis.
pub(super) fn check_axis(a: &Layout, axis: usize) -> Result<()> {
    if axis < a.rank() {
        return Ok(());
    }
    Err(Error::shapes(OP, "the axis must be less than the number of axes", a.shape(), &[axis]))
}
