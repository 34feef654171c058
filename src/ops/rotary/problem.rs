//! A checked rotation of rows by the angles of a table, as plain data.

use super::pairs::{RotaryPairs, RotaryPass};
use crate::kernel::shader_dims;
use crate::layout::{Axes, DType, Layout, MAX_RANK, dim, known, merged_together};
use crate::ops::vectors::Moves;
use crate::{Error, Result};
use std::cmp::Reverse;

shader_dims! {
    /// The uniform of `shaders/ops/rotary.wgsl` (`rotary_dims.wgsl`).
    pub struct RotaryDims {
        /// of the rows: extent, then the strides of C, A and T; innermost first
        axes: [[u32; 4]; MAX_RANK - 1],
        /// first element in its binding
        a_offset: u32,
        /// along a row
        a_stride: u32,
        /// elements of a row
        width: u32,
        /// rotated elements of a row, from the first one on
        pairs: u32,
        /// invocations for a row
        row_units: u32,
        /// of them for its pairs
        pair_units: u32,
        /// invocations for all rows
        units: u32,
        /// number of axes of the rows, at least 1
        rank: u32,
        /// the first position in T from the call, or its index in a buffer
        start: u32,
        /// the last one that leaves a position for each row
        last: u32,
        /// the begin of the sines in T
        sines: u32,
        /// their factor: -1 for a gradient
        sign: f32,
    }
}

/// The use of a table of angles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RotaryTable {
    /// Which elements of a row form a pair.
    pub pairs: RotaryPairs,
    /// The elements of a row that are rotated, from the first on.
    pub rotary_dims: usize,
    /// The number of positions in the table.
    pub positions: usize,
}

/// A checked rotation of the rows of a view that is not empty. The result has the view's shape and no gaps, with its axes in the
/// order of [`memory_order`](Self::memory_order).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RotaryProblem {
    pub(super) pass: RotaryPass,
    pub(super) of: RotaryTable,
    /// Type of the elements of the view and the result.
    pub(super) dtype: DType,
    /// The view, relative to its window.
    pub(super) a: Layout,
    /// The result, with the axes in memory order.
    pub(super) c: Layout,
    /// The tensor of i32 whose one element is the first position of the table, relative to its window. None if the call passes it.
    pub(super) at: Option<Layout>,
}

impl RotaryTable {
    /// The table in memory: the cosines (positions, pairs), then the sines.
    pub(super) fn layout(&self, op: &'static str) -> Result<Layout> {
        Layout::contiguous(op, &[2, self.positions, self.rotary_dims / 2])
    }

    /// Checks that x has rows that the table rotates, from position `start` of the table on.
    ///
    /// # Errors
    /// [`Error::Shape`] if x has no rows, or shorter ones; [`Error::Input`] if the table has fewer positions.
    pub(super) fn check(&self, op: &'static str, x: &Layout, start: usize) -> Result<()> {
        let [.., length, width] = *x.shape() else {
            return Err(Error::shape(op, "x must have at least two axes, (.., length, dim)", x.shape()));
        };
        if width < self.rotary_dims {
            let rule = "the last axis of x must be at least as long as the rotary dims";
            return Err(Error::shapes(op, rule, x.shape(), &[self.rotary_dims]));
        }
        let end = start.saturating_add(length);
        if end > self.positions {
            return Err(Error::input(
                format!("{op}: the start"),
                format!("x takes the positions {start}..{end} of the table, which has {}", self.positions),
            ));
        }
        Ok(())
    }
}

impl RotaryProblem {
    /// The rotation of `x`, a view of `dtype` elements, by a table. The view must not be empty.
    ///
    /// # Errors
    /// [`Error::Shape`] if x is empty, has fewer axes than two, or rows of fewer elements than the rotary dims;
    /// [`Error::Input`] if it is longer than the table, the rotary dims are odd or none, or the elements are integers;
    /// [`Error::Limit`] if a size is $2^{31}$ or more.
    pub fn new(pass: RotaryPass, of: RotaryTable, x: &Layout, dtype: DType) -> Result<Self> {
        let op = pass.op();
        check_rotary_dims(op, of.rotary_dims)?;
        of.check(op, x, 0)?;
        if x.is_empty() {
            return Err(Error::shape(op, "x must have an element", x.shape()));
        }
        if !dtype.is_real() {
            return Err(Error::input(
                format!("{op}: the elements"),
                format!("they must be reals, not {dtype}"),
            ));
        }
        dim(op, x.len())?;
        dim(op, of.layout(op)?.len())?;
        let a = x.in_window(dtype);
        // Of the window, because the axes of one index have another place there.
        let order = Self::memory_order(&a);
        let extents: Vec<usize> = order.iter().map(|&axis| x.shape()[axis]).collect();
        let c = Layout::contiguous(op, &extents)?;
        a.check_dims(op)?;
        Ok(Self { pass, of, dtype, a, c, at: None })
    }

    /// The same, beginning at the position in the one element `at` of a tensor of i32.
    ///
    /// # Errors
    /// [`Error::Shape`] if `at` has more or fewer elements than one; [`Error::Limit`] if it lies too far in its buffer.
    pub fn at_position(self, at: &Layout) -> Result<Self> {
        let op = self.pass.op();
        check_position(op, at)?;
        let [at] = merged_together([at.in_window(DType::I32)], 0..at.rank());
        Ok(Self { at: Some(at), ..self })
    }

    /// The order of the axes in the memory of the result, outermost first: the leading axes by the strides of x, and then
    /// the last axis. If x repeats elements along an axis, the axes keep their order.
    #[must_use]
    pub fn memory_order(x: &Layout) -> Vec<usize> {
        let mut order: Vec<usize> = (0..x.rank()).collect();
        let rows = x.rank().saturating_sub(1);
        let repeats = |&axis: &usize| x.shape()[axis] > 1 && x.strides()[axis] == 0;
        if !order[..rows].iter().any(repeats) {
            order[..rows].sort_by_key(|&axis| Reverse(x.strides()[axis]));
        }
        order
    }

    /// The shader's uniform, without the position; the call passes it.
    #[must_use]
    pub fn dims(&self) -> RotaryDims {
        let group = 4 * self.quads();
        let (width, pairs, positions) = (self.width(), self.pairs(), known(self.of.positions));
        let pair_units = pairs.div_ceil(group);
        let row_units = pair_units + (width - 2 * pairs).div_ceil(2 * group);
        let mut dims = RotaryDims {
            a_offset: self.a.offset_in_window(self.dtype),
            a_stride: self.a_stride(),
            width,
            pairs,
            row_units,
            pair_units,
            units: row_units * self.rows(),
            start: self.at.map_or(0, |at| at.offset_in_window(DType::I32)),
            last: positions - known(self.a.shape()[self.a.rank() - 2]),
            sines: positions * pairs,
            sign: self.pass.sign(),
            ..RotaryDims::default()
        };
        dims.rank = self.axes().put_known(&mut dims.axes);
        dims
    }

    /// The axes of the rows, with the strides of the result, the view and the table.
    fn axes(&self) -> Axes<3> {
        let (order, rows) = (Self::memory_order(&self.a), self.a.rank() - 1);
        let strides = |at: usize| {
            let of_table = if order[at] == rows - 1 { self.of.rotary_dims / 2 } else { 0 };
            [self.c.strides()[at], self.a.strides()[order[at]], of_table]
        };
        Axes::of(&self.c.shape()[..rows], strides).at_least_one()
    }

    /// The elements of a row of the view.
    pub(super) fn width(&self) -> u32 {
        known(self.a.shape()[self.a.rank() - 1])
    }

    /// Their stride.
    fn a_stride(&self) -> u32 {
        known(self.a.strides()[self.a.rank() - 1])
    }

    /// The rotated pairs of a row.
    pub(super) fn pairs(&self) -> u32 {
        known(self.of.rotary_dims / 2)
    }

    /// The number of rows.
    pub(super) fn rows(&self) -> u32 {
        known(self.a.len()) / self.width()
    }

    /// How the kernel moves elements. The strides of the result and the table are multiples of the width and of the pairs.
    pub(super) fn moves(&self) -> Moves {
        let axes = self.axes();
        let starts = axes.iter().map(|axis| known(axis.strides[1]));
        let starts = starts.chain([self.a.offset_in_window(self.dtype), self.width(), self.pairs()]);
        Moves::of(self.dtype, [self.a_stride()], starts)
    }

    /// Groups of four elements that an invocation loads together.
    pub(super) fn quads(&self) -> u32 {
        self.moves().quads(self.dtype)
    }
}

/// Checks the tensor that has a position.
pub(super) fn check_position(op: &'static str, at: &Layout) -> Result<()> {
    if at.len() == 1 {
        return Ok(());
    }
    Err(Error::shape(op, "the position must be a tensor of one element", at.shape()))
}

/// Checks the number of rotary dims.
pub(super) fn check_rotary_dims(op: &'static str, rotary_dims: usize) -> Result<()> {
    if rotary_dims > 0 && rotary_dims.is_multiple_of(2) {
        return Ok(());
    }
    let why = format!("there must be an even number of them, and at least 2, not {rotary_dims}");
    Err(Error::input(format!("{op}: the rotary dims"), why))
}
