//! A checked elementwise function, as plain data.

use super::operation::Elementwise;
use crate::kernel::shader_dims;
use crate::layout::{DType, Layout, MAX_RANK, dim, known, merged_together};
use crate::ops::vectors::{Moves, quads};
use crate::{Error, Result};

/// The largest number of operands, without C.
pub(super) const MAX_OPERANDS: usize = 4;

shader_dims! {
    /// The uniform of `shaders/ops/elementwise.wgsl` and `elementwise_vectors.wgsl` (`elementwise_dims.wgsl`), in elements.
    pub struct ElementwiseDims {
        /// extent, then the strides of C and of operands 0 and 1, in elements; innermost first
        axes: [[u32; 4]; MAX_RANK],
        /// first elements of C and of operands 0 and 1 in their bindings, and the number of units of all rows
        offsets: [u32; 4],
        /// of a row
        units: u32,
        /// number of axes, at least 1
        rank: u32,
        /// the bits of numbers of the function
        numbers: [u32; 2],
    }
}

shader_dims! {
    /// The uniform for more than two operands or numbers: the variant `four`.
    pub struct ElementwiseDimsOfFour {
        /// extent, then the strides of C and of operands 0 and 1, in elements; innermost first
        axes: [[u32; 4]; MAX_RANK],
        /// first elements of C and of operands 0 and 1 in their bindings, and the number of units of all rows
        offsets: [u32; 4],
        /// of a row
        units: u32,
        /// number of axes, at least 1
        rank: u32,
        /// the bits of numbers of the function
        numbers: [u32; 2],
        /// the strides of operands 2 and 3
        more_axes: [[u32; 4]; MAX_RANK / 2] as MoreAxes,
        /// their first elements
        more_offsets: [u32; 4],
        more_numbers: [[u32; 4]; 2] as MoreNumbers,
    }
}

/// A checked elementwise function: the operands broadcast to the output's shape, and the output's elements do not
/// overlap.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ElementwiseProblem {
    pub(super) function: Elementwise,
    /// The type of the results in memory.
    pub(super) dtype: DType,
    /// C, relative to its window. Its axes, and those of the operands, are merged.
    pub(super) c: Layout,
    /// The operands with C's shape, and their types.
    pub(super) operands: Vec<(Layout, DType)>,
}

/// The broadcast shape of layouts, as in `NumPy`.
///
/// # Errors
/// [`Error::Shape`] if two extents differ and neither is 1.
pub fn broadcast_shape(op: &'static str, layouts: &[&Layout]) -> Result<Vec<usize>> {
    let mut shape: Vec<usize> = Vec::new();
    for layout in layouts {
        let rank = shape.len().max(layout.rank());
        let extent =
            |of: &[usize], axis: usize| (axis + of.len()).checked_sub(rank).map_or(1, |axis| of[axis]);
        let together = |axis: usize| match (extent(&shape, axis), extent(layout.shape(), axis)) {
            (1, n) | (n, 1) => Ok(n),
            (m, n) if m == n => Ok(n),
            _ => {
                let rule = "extents must be equal or 1, counted from the last axis";
                Err(Error::shapes(op, rule, &shape, layout.shape()))
            }
        };
        shape = (0..rank).map(together).collect::<Result<_>>()?;
    }
    Ok(shape)
}

impl ElementwiseProblem {
    /// `function` of `operands` in `c`, with elements of one type. The result of a comparison is i8. C must not be empty.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of_one_type(
        function: impl Into<Elementwise>,
        operands: &[&Layout],
        c: &Layout,
        dtype: DType,
    ) -> Result<Self> {
        let function = function.into();
        let to = function.result_type(dtype);
        let operands: Vec<(&Layout, DType)> = operands.iter().map(|&layout| (layout, dtype)).collect();
        Self::new(function, &operands, (c, to))
    }

    /// `function` of `operands` in `c`. C must not be empty.
    ///
    /// # Errors
    /// [`Error::Shape`] if an operand does not broadcast to the shape of C, or elements of C overlap; [`Error::Input`]
    /// if there is no such function of these types, or there are no or more than four operands;
    /// [`Error::Limit`] if a size is $2^{31}$ or more.
    pub fn new(
        function: Elementwise,
        operands: &[(&Layout, DType)],
        (c, dtype): (&Layout, DType),
    ) -> Result<Self> {
        let op = function.op();
        let count = operands.len();
        if count == 0 || count > MAX_OPERANDS || function.operands() != count {
            let why = format!("there must be {}, not {count}", function.operands());
            return Err(Error::input(format!("{op}: the operands"), why));
        }
        let dtypes: Vec<DType> = operands.iter().map(|(_, dtype)| *dtype).collect();
        function.check(&dtypes, dtype)?;
        c.check_no_overlap(op)?;
        // Missing operands step along no axis.
        let mut all = [c.at(&[0; MAX_RANK], 0); 1 + MAX_OPERANDS];
        all[0] = c.in_window(dtype);
        for (to, (x, dtype)) in all[1..].iter_mut().zip(operands) {
            *to = c.at(&x.broadcast_strides(op, c)?, x.offset()).in_window(*dtype);
        }
        let merged = merged_together(all, 0..c.rank());
        merged.iter().try_for_each(|of| of.check_dims(op))?;
        let [c, read @ ..] = merged;
        Ok(Self { function, dtype, c, operands: read.into_iter().zip(dtypes).collect() })
    }

    /// The number of merged axes, at least one.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.c.rank().max(1)
    }

    /// The types of the operands.
    pub(super) fn dtypes(&self) -> Vec<DType> {
        self.operands.iter().map(|(_, dtype)| *dtype).collect()
    }

    /// How the kernel moves elements: in vectors (operands that are repeated along the rows are loaded once), or one by
    /// one.
    pub(super) fn moves(&self) -> Moves {
        let width = 4 * self.vector_quads() as usize;
        let is_row =
            |of: &Layout| along_rows(of) == 1 && from_row_to_row(of).all(|start| start.is_multiple_of(width));
        let all = self.operands.iter().all(|(x, _)| along_rows(x) == 0 || is_row(x));
        if is_row(&self.c) && all { Moves::Vectors } else { Moves::Elements }
    }

    /// Groups of four elements in a vector: 16 bytes if all elements have the same size, else four elements.
    pub(super) fn vector_quads(&self) -> u32 {
        let mut moved = self.operands.iter().filter(|(x, _)| along_rows(x) > 0);
        let is_same = moved.all(|(_, dtype)| dtype.size() == self.dtype.size());
        if is_same { quads(self.dtype) } else { 1 }
    }

    /// The number of elements of a row that are moved together.
    fn per_unit(&self) -> u32 {
        match self.moves() {
            Moves::Elements => 4,
            Moves::Vectors => 4 * self.vector_quads(),
        }
    }

    /// Units of a row, and of all rows.
    pub(super) fn units(&self) -> Result<[u32; 2]> {
        let row = self.c.shape().last().copied().unwrap_or(1);
        let units = known(row).div_ceil(self.per_unit());
        Ok([units, dim(self.function.op(), units as usize * (self.c.len() / row))?])
    }

    /// The uniform.
    pub(super) fn dims(&self) -> Result<ElementwiseDimsOfFour> {
        let [units, all] = self.units()?;
        let step = |at: usize, axis: usize| self.operands.get(at).map_or(0, |(x, _)| known(x.step(axis)));
        let offset = |at: usize| self.operands.get(at).map_or(0, |(x, dtype)| x.offset_in_window(*dtype));
        let mut dims = ElementwiseDimsOfFour {
            axes: [[1, 0, 0, 0]; MAX_RANK],
            offsets: [self.c.offset_in_window(self.dtype), offset(0), offset(1), all],
            units,
            rank: known(self.rank()),
            more_offsets: [offset(2), offset(3), 0, 0],
            ..ElementwiseDimsOfFour::default()
        };
        for (at, axis) in (0..self.c.rank()).rev().enumerate() {
            let extent = known(self.c.shape()[axis]);
            dims.axes[at] = [extent, known(self.c.step(axis)), step(0, axis), step(1, axis)];
            dims.more_axes[at / 2][at % 2 * 2..][..2].copy_from_slice(&[step(2, axis), step(3, axis)]);
        }
        Ok(dims)
    }
}

/// The stride along the rows: 0 if all elements of a row are the same one.
pub(super) fn along_rows(of: &Layout) -> usize {
    of.rank().checked_sub(1).map_or(0, |last| of.step(last))
}

/// The strides from row to row, and the first element.
pub(super) fn from_row_to_row(of: &Layout) -> impl Iterator<Item = usize> {
    (0..of.rank().saturating_sub(1)).map(|axis| of.step(axis)).chain([of.offset()])
}

impl ElementwiseDimsOfFour {
    /// The uniform for at most two operands and numbers.
    pub(super) fn of_two(&self) -> ElementwiseDims {
        let Self { axes, offsets, units, rank, numbers, .. } = *self;
        ElementwiseDims { axes, offsets, units, rank, numbers }
    }
}
