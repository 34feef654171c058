//! Functions along one axis with a result of the same shape: where the lines along the axis begin in the operands and
//! in the result.

use super::vectors::Moves;
use crate::kernel::{OperandAccess, StorageFormat};
use crate::layout::{Axes, Axis, DType, Layout, MAX_RANK, dim};
use crate::{Error, Result};

/// Which elements neighbouring invocations read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Across {
    /// Neighbours along the axis.
    Row,
    /// Neighbouring columns.
    Columns,
}

/// The strides of the contiguous result C, of the operand A, and of another operand M that broadcasts to A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Lines {
    /// The other axes, merged, innermost first (the axis of the columns is the first if neighbours are columns):
    /// extent, and the strides of C, A and M.
    pub(super) axes: [[u32; 4]; MAX_RANK - 1],
    pub(super) rank: u32,
    /// The strides along the axis of C, A and M, and its length.
    pub(super) strides: [u32; 4],
    pub(super) across: Across,
}

impl Lines {
    /// The lines of `a` along an axis that it has. `of_m` are the strides of M along the axes of `a`.
    ///
    /// # Errors
    /// [`Error::Shape`] if `a` is empty; [`Error::Limit`] if a size is $2^{31}$ or more.
    pub(super) fn new(op: &'static str, a: &Layout, of_m: &[usize; MAX_RANK], axis: usize) -> Result<Self> {
        if a.is_empty() {
            return Err(Error::shape(op, "the operand must have an element", a.shape()));
        }
        dim(op, a.len())?;
        let c = Layout::contiguous(op, a.shape())?;
        let length = a.shape()[axis];
        let of_m = |axis: usize| if a.shape()[axis] > 1 { of_m[axis] } else { 0 };
        let steps =
            |axis: usize| Axis { extent: a.shape()[axis], strides: [c.step(axis), a.step(axis), of_m(axis)] };
        let mut axes = Axes::merged((0..a.rank()).rev().filter(|&other| other != axis).map(steps));
        let along = steps(axis).strides;
        // Neighbours are columns if some other step of A is smaller than that along the axis.
        let has_columns = axes.bring_nearest(1, along[1]);
        let mut sizes = [[0; 4]; MAX_RANK - 1];
        Ok(Self {
            rank: axes.put(op, &mut sizes)?,
            axes: sizes,
            strides: [dim(op, along[0])?, dim(op, along[1])?, dim(op, along[2])?, dim(op, length)?],
            across: if has_columns { Across::Columns } else { Across::Row },
        })
    }

    /// The length of a line.
    pub(super) fn length(&self) -> u32 {
        self.strides[3]
    }

    /// The number of columns, if neighbours are columns.
    pub(super) fn columns(&self) -> u32 {
        self.axes[0][0]
    }

    /// The number of lines, or of groups of neighbouring columns.
    pub(super) fn rows(&self) -> u32 {
        let others = &self.axes[usize::from(self.across == Across::Columns)..self.rank as usize];
        others.iter().map(|axis| axis[0]).product()
    }

    /// How a kernel moves elements of the operands `which` (1 is C, 2 is A and 3 is M) that begin at these offsets.
    pub(super) fn moves(&self, dtype: DType, which: &[usize], offsets: &[u32]) -> Moves {
        let (strides, starts) = self.steps(which);
        Moves::of(dtype, strides, starts.into_iter().chain(offsets.iter().copied()))
    }

    /// How a kernel stores elements of C.
    pub(super) fn write_elements(&self, format: StorageFormat) -> OperandAccess {
        let (strides, starts) = self.steps(&[1]);
        OperandAccess::write_pairs_or_elements(format, strides, starts)
    }

    /// The strides of these operands between the neighbours of an invocation, and between those of different invocations.
    fn steps(&self, which: &[usize]) -> (Vec<u32>, Vec<u32>) {
        let axes = &self.axes[..self.rank as usize];
        let of = |axis: &[u32; 4]| which.iter().map(|&x| axis[x]).collect::<Vec<u32>>();
        let [c, a, m, length] = self.strides;
        let along = of(&[0, c, a, m]);
        match self.across {
            Across::Row => (if length > 1 { along } else { vec![1] }, axes.iter().flat_map(of).collect()),
            Across::Columns => (of(&axes[0]), axes[1..].iter().flat_map(of).chain(along).collect()),
        }
    }
}
