//! A checked reduction, as plain data.

use super::axes::{Reduced, reduced, split};
use super::function::ReduceFunction;
use crate::caps::Caps;
use crate::kernel::shader_dims;
use crate::layout::{Axes, Axis, DType, Layout, MAX_RANK, dim};
use crate::ops::vectors::{Moves, column_quads, quads};
use crate::{Error, Result};

shader_dims! {
    /// The uniform of `shaders/ops/reduce.wgsl`, `reduce_columns.wgsl` and `reduce_parts.wgsl` (`reduce_dims.wgsl`), in elements.
    pub struct ReduceDims {
        /// extent, then the strides of C and A, then 0: axes that are kept, then others; innermost first
        axes: [[u32; 4]; MAX_RANK - 1],
        /// of A's first element in its binding
        a_offset: u32,
        /// along a line
        a_stride: u32,
        /// of a line
        length: u32,
        /// for one element of C
        lines: u32,
        /// elements of C, or of C's axes without the innermost
        rows: u32,
        /// number of axes that are kept
        kept: u32,
        /// number of axes that are reduced, without the lines' own
        reduced: u32,
        /// invocations that share a row: a power of two, at most LANES; or groups of columns of a row
        lanes: u32,
        /// of the terms of an element of C
        parts: u32,
        /// how the result is computed from the final state: one of the constants below
        finish: u32,
        /// the bits of a number, or a pattern that reverses the order
        number: u32,
        /// index of a window's first element along the axis, if several windows are joined
        start: u32,
    }
}

/// Which elements neighbouring invocations read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Across {
    /// Neighbours along a line: `shaders/ops/reduce.wgsl`.
    Line,
    /// Neighbouring columns of the same place along the lines: `shaders/ops/reduce_columns.wgsl`.
    Columns,
}

/// A checked reduction: the axes exist, there is at least one element to reduce, and the number of elements is below $2^{31}$. The
/// result is contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReduceProblem {
    /// The shaders' uniform, for a single step.
    pub(super) dims: ReduceDims,
    /// The operand, relative to its window.
    pub(super) a: Layout,
    /// Which of its axes are reduced.
    pub(super) reduced: Reduced,
    /// Type of the operand's elements.
    pub(super) dtype: DType,
    /// The function.
    pub(super) function: ReduceFunction,
    /// Which elements neighbouring invocations read.
    pub(super) across: Across,
    /// The number of elements of the result.
    pub(super) results: usize,
    /// Whether few results may take a second step.
    pub(super) steps: Steps,
}

/// The number of steps of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Steps {
    /// Always one: for a few partial results, a second launch would take longer.
    One,
    /// Two, if there are too few results to occupy the device.
    AsNeeded,
    /// Two: the terms are those of one of several windows, and the states of the windows are joined.
    OfWindow,
}

impl ReduceProblem {
    /// `function` of the elements of `a`, a view of `dtype` elements, along `axes`. The view must not be empty.
    ///
    /// # Errors
    /// [`Error::Shape`] if `a` lacks an axis, an axis is given twice, `a` is empty, or a function that returns an index is not
    /// along one axis; [`Error::Input`] if there is no such function of these elements; [`Error::Limit`] if a size is $2^{31}$
    /// or more.
    pub fn new(function: ReduceFunction, a: &Layout, axes: &[usize], dtype: DType) -> Result<Self> {
        let op = function.op();
        if function.is_place() && axes.len() != 1 {
            return Err(Error::shapes(op, "there must be one axis", a.shape(), axes));
        }
        Self::along(function, a, &reduced(op, a, axes)?, dtype)
    }

    /// The same, for axes that are known to exist.
    pub(in crate::ops) fn along(
        function: ReduceFunction,
        a: &Layout,
        reduced: &Reduced,
        dtype: DType,
    ) -> Result<Self> {
        let op = function.op();
        dtype.check_computed(op)?;
        if !function.takes(dtype) {
            return Err(Error::input(
                format!("{op}: the elements"),
                format!("they must be reals, not {dtype}"),
            ));
        }
        if a.is_empty() {
            return Err(Error::shape(op, "the operand must have an element", a.shape()));
        }
        dim(op, a.len())?;
        let (shape, count) = split(a, reduced);
        let (mut kept, mut gone) = merged(a, reduced);
        let Axis { extent: length, strides: [_, stride] } = gone.take_first();
        // Neighbours are columns if some step between elements of C is smaller than the step along a line.
        let across = if kept.bring_nearest(1, stride) { Across::Columns } else { Across::Line };
        let results: usize = shape.iter().product();
        let columns =
            if across == Across::Columns { kept.iter().next().map_or(1, |axis| axis.extent) } else { 1 };
        let mut dims = ReduceDims {
            a_offset: a.offset_in_window(dtype),
            a_stride: dim(op, stride)?,
            length: dim(op, length)?,
            lines: dim(op, count / length)?,
            rows: dim(op, results / columns)?,
            kept: dim(op, kept.len())?,
            reduced: dim(op, gone.len())?,
            lanes: 1,
            parts: 1,
            finish: function.finish(),
            number: function.number(count, dtype),
            ..ReduceDims::default()
        };
        kept.within(gone).put(op, &mut dims.axes)?;
        let a = a.in_window(dtype);
        Ok(Self { dims, a, reduced: *reduced, dtype, function, across, results, steps: Steps::AsNeeded })
    }

    /// The same reduction in one step, even for few results.
    pub(crate) fn in_one_step(self) -> Self {
        Self { steps: Steps::One, ..self }
    }

    /// How the kernel moves the elements of the operand.
    pub(super) fn moves(&self) -> Moves {
        let d = &self.dims;
        let axes = d.axes[..(d.kept + d.reduced) as usize].iter().map(|axis| axis[2]);
        match self.across {
            Across::Line => {
                let along = if d.length > 1 { d.a_stride } else { 1 };
                Moves::of(self.dtype, [along], axes.chain([d.a_offset]))
            }
            Across::Columns => {
                Moves::of(self.dtype, axes.clone().take(1), axes.skip(1).chain([d.a_offset, d.a_stride]))
            }
        }
    }

    /// The quads of a group, which are neighbours.
    pub(super) fn quads(&self, caps: &Caps) -> u32 {
        let d = &self.dims;
        match (self.moves(), self.across) {
            (Moves::Elements, _) => 1,
            (Moves::Vectors, Across::Line) if caps.machine.is_software() => {
                column_quads(self.dtype, caps, [d.length])
            }
            (Moves::Vectors, Across::Line) => quads(self.dtype),
            (Moves::Vectors, Across::Columns) => column_quads(self.dtype, caps, [d.axes[0][0]]),
        }
    }
}

/// The axes that are kept and those that are reduced, innermost first. Axes merge if they step as one.
fn merged(a: &Layout, reduced: &Reduced) -> (Axes<2>, Axes<2>) {
    let (mut kept, mut gone) = (Vec::new(), Vec::new());
    let mut c = 1;
    for axis in (0..a.rank()).rev().filter(|&axis| a.shape()[axis] > 1) {
        let (extent, stride) = (a.shape()[axis], a.strides()[axis]);
        if reduced[axis] {
            gone.push(Axis { extent, strides: [0, stride] });
        } else {
            kept.push(Axis { extent, strides: [c, stride] });
            c *= extent;
        }
    }
    // The sum of terms in another order is as good. Repeated elements come last.
    gone.sort_by_key(|axis| axis.strides[1].wrapping_sub(1));
    (Axes::merged(kept), Axes::merged(gone))
}
