//! A checked copy of a view into a view, as plain data.

use crate::layout::{DType, Layout, MAX_RANK, dim};
use crate::ops::elementwise::problem::check_no_overlap;
use crate::ops::packing::per_word;
use crate::{Error, Result};

/// The uniform of `shaders/ops/copy.wgsl` and `copy_parts.wgsl` (`copy_dims.wgsl`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct CopyDims {
    pub axes: [[u32; 4]; MAX_RANK],
    pub c_offset: u32,
    pub a_offset: u32,
    pub c_stride: u32,
    pub a_stride: u32,
    pub row: u32,
    pub row_units: u32,
    pub units: u32,
    pub rank: u32,
}

/// What the kernel moves together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Unit {
    /// Whole words: this number of them.
    Words(u32),
    /// Elements that are parts of words.
    Parts,
}

/// A checked copy of a view A into a view C of the same shape, whose elements do not overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CopyProblem {
    /// The shader's uniform.
    pub(super) dims: CopyDims,
    /// Type of all elements.
    pub(super) dtype: DType,
    /// What the kernel moves together.
    pub(super) unit: Unit,
}

/// The name of the operation in errors and plans.
pub(super) const OP: &str = "copy_into";

impl CopyProblem {
    /// The copy of A into C, whose elements have type `dtype`. They must not be empty. The last axes are copied as rows, so
    /// it is fastest if the elements of C are neighbours along the last axis.
    ///
    /// # Errors
    /// [`Error::Shape`] if the shapes differ, or elements of C overlap; [`Error::Limit`] if a size is $2^{31}$ or more.
    pub fn new(a: &Layout, c: &Layout, dtype: DType) -> Result<Self> {
        check_views(a, c)?;
        // Innermost first: extent and the strides of C and A. Axes merge if, in both, the outer stride is the extent times
        // the inner stride.
        let mut axes: Vec<[usize; 3]> = Vec::with_capacity(MAX_RANK);
        for axis in (0..c.rank()).rev().filter(|&axis| c.shape()[axis] > 1) {
            let (extent, [sc, sa]) = (c.shape()[axis], [c, a].map(|x| x.strides()[axis]));
            match axes.last_mut() {
                Some(inner) if [sc, sa] == [1, 2].map(|x| inner[0].saturating_mul(inner[x])) => {
                    inner[0] *= extent
                }
                _ => axes.push([extent, sc, sa]),
            }
        }
        dim(OP, c.len())?;
        let offsets = [c, a].map(|x| x.offset_in_window(dtype) as usize);
        let unit = Unit::of(&axes, offsets, dtype);
        let together = unit.elements(dtype);
        let mut axes = axes.into_iter().peekable();
        // The innermost axis is the row, unless its elements are parts of words that are not neighbours.
        let row = axes.next_if(|&[_, sc, _]| unit != Unit::Parts || sc == 1).unwrap_or([1, 1, 1]);
        let rows = axes.clone().map(|[extent, ..]| extent).product::<usize>();
        let row_units = match unit {
            Unit::Words(_) => row[0] / together,
            // As many words as the row touches if it begins with the last element of one.
            Unit::Parts => 1 + (row[0] - 1).div_ceil(per_word(dtype) as usize),
        };
        let along = |stride| if together == 1 { stride } else { 1 };
        let mut dims = CopyDims {
            c_offset: dim(OP, offsets[0] / together)?,
            a_offset: dim(OP, offsets[1] / together)?,
            c_stride: dim(OP, along(row[1]))?,
            a_stride: dim(OP, along(row[2]))?,
            row: dim(OP, row[0] / together)?,
            row_units: dim(OP, row_units)?,
            units: dim(OP, row_units.saturating_mul(rows))?,
            ..CopyDims::default()
        };
        for (to, [extent, sc, sa]) in dims.axes.iter_mut().zip(axes) {
            *to = [dim(OP, extent)?, dim(OP, sc / together)?, dim(OP, sa / together)?, 0];
            dims.rank += 1;
        }
        Ok(Self { dims, dtype, unit })
    }

    /// The layouts of C and A, relative to their windows.
    pub(super) fn layouts(&self) -> Result<[Layout; 2]> {
        let d = &self.dims;
        let together = self.unit.elements(self.dtype);
        let outer = d.axes[..d.rank as usize].iter().rev();
        let mut shape: Vec<usize> = outer.clone().map(|axis| axis[0] as usize).collect();
        let mut strides =
            [1, 2].map(|x| outer.clone().map(|axis| axis[x] as usize * together).collect::<Vec<_>>());
        if d.row > 1 || together > 1 {
            shape.push(d.row as usize * together);
            strides[0].push(d.c_stride as usize);
            strides[1].push(d.a_stride as usize);
        }
        let layout = |x: usize, offset: u32| {
            Layout::new(OP, &shape, &strides[x], offset as usize * together, usize::MAX)
        };
        Ok([layout(0, d.c_offset)?, layout(1, d.a_offset)?])
    }
}

/// Checks that a view A can be copied into a view C.
pub(super) fn check_views(a: &Layout, c: &Layout) -> Result<()> {
    if a.shape() != c.shape() {
        return Err(Error::shapes(OP, "the output must have the shape of the operand", c.shape(), a.shape()));
    }
    check_no_overlap(OP, c)
}

impl Unit {
    /// The largest unit that divides the rows and their places in both operands.
    fn of(axes: &[[usize; 3]], offsets: [usize; 2], dtype: DType) -> Self {
        let size = dtype.size();
        let fits = |bytes: usize| {
            let together = bytes / size;
            let rows =
                axes.first().is_some_and(|&[n, sc, sa]| n.is_multiple_of(together) && [sc, sa] == [1, 1]);
            let mut places = axes.iter().skip(1).flat_map(|[_, strides @ ..]| strides).chain(&offsets);
            together <= 1 || (rows && places.all(|place| place.is_multiple_of(together)))
        };
        let words = [4, 2, 1].into_iter().find(|&words| words * 4 >= size && fits(words * 4));
        words.map_or(Self::Parts, |words| Self::Words(u32::try_from(words).unwrap_or(1)))
    }

    /// The number of elements in a unit.
    pub(super) fn elements(self, dtype: DType) -> usize {
        match self {
            Self::Words(words) => words as usize * per_word(dtype) as usize,
            Self::Parts => 1,
        }
    }
}
