//! Functions along one axis with a result of the same shape: where the lines along the axis begin in the operands and
//! in the result.

use super::vectors::Moves;
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
        let axes = &self.axes[..self.rank as usize];
        let of = |axis: &[u32; 4]| which.iter().map(|&x| axis[x]).collect::<Vec<u32>>();
        let [c, a, m, length] = self.strides;
        let along = [0, c, a, m];
        let mut starts = offsets.to_vec();
        let neighbours = match self.across {
            Across::Row => {
                starts.extend(axes.iter().flat_map(of));
                if length > 1 { of(&along) } else { vec![1] }
            }
            Across::Columns => {
                starts.extend(axes[1..].iter().flat_map(of));
                starts.extend(of(&along));
                of(&axes[0])
            }
        };
        Moves::of(dtype, neighbours, starts)
    }

    /// Whether an invocation stores neighbouring elements that begin at an even index.
    pub(super) fn stores_pairs(&self) -> bool {
        let axes = &self.axes[..self.rank as usize];
        let [along, .., length] = self.strides;
        let is_even = |stride: &u32| stride.is_multiple_of(2);
        match self.across {
            Across::Row => (along == 1 || length == 1) && axes.iter().all(|axis| is_even(&axis[1])),
            Across::Columns => {
                axes[0][1] == 1 && is_even(&along) && axes[1..].iter().all(|axis| is_even(&axis[1]))
            }
        }
    }
}
