//! A checked copy of a view into a view, as plain data.

use crate::kernel::shader_dims;
use crate::layout::{Axes, Axis, DType, Layout, MAX_RANK, dim, merged_together};
use crate::ops::packing::per_word;
use crate::{Error, Result};

shader_dims! {
    /// The uniform of `shaders/ops/copy.wgsl` and `copy_parts.wgsl` (`copy_dims.wgsl`).
    pub struct CopyDims {
        /// of the rows: extent, then the strides of C and A, innermost first; `w` is for `shift`
        axes: [[u32; 4]; MAX_RANK],
        /// first unit or element in the bindings
        c_offset: u32,
        a_offset: u32,
        /// along a row
        c_stride: u32,
        a_stride: u32,
        /// length of a row
        row: u32,
        /// invocations for a row
        row_units: u32,
        /// invocations for all rows
        units: u32,
        /// number of axes of the rows
        rank: u32,
    }
}

/// The unit that the kernel moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Unit {
    /// Whole words: this number of them.
    Words(u32),
    /// Elements that are parts of words.
    Parts,
}

/// Which operand of a copy has more elements along one axis than are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Longer {
    /// A is copied to a position in C.
    C,
    /// C is copied from a position in A.
    A,
}

/// A checked copy of a view A into a view C of the same shape, whose elements do not overlap; or one of the two is a slice
/// of its operand, at a position that the kernel reads from a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CopyProblem {
    /// The operands, relative to their windows; with merged axes if there is no slice.
    pub(super) c: Layout,
    pub(super) a: Layout,
    /// Type of all elements.
    pub(super) dtype: DType,
    /// Of which operand a slice is copied.
    pub(super) sliced: Option<Sliced>,
}

/// The slice of an operand that is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sliced {
    pub(super) longer: Longer,
    /// The axis along which one is longer.
    pub(super) axis: usize,
    /// The tensor of one element that has the position, relative to its window.
    pub(super) at: Layout,
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
        let [c, a] = merged_together([c, a].map(|of| of.in_window(dtype)), 0..c.rank());
        Self { c, a, dtype, sliced: None }.checked()
    }

    /// A copy between all of one operand and a slice of the longer one along `axis`, whose position is in the one element
    /// `at` of a tensor of i32. What is copied must not be empty.
    ///
    /// # Errors
    /// As [`new`](Self::new); [`Error::Shape`] if there is no such axis, if the shapes differ along other axes, if `longer`
    /// is the shorter one, or if `at` has more or fewer elements than one.
    pub fn at_position(
        longer: Longer,
        [a, c]: [&Layout; 2],
        axis: usize,
        at: &Layout,
        dtype: DType,
    ) -> Result<Self> {
        check_at_position(longer, [a, c], axis, at)?;
        let [c, a] = [c, a].map(|of| of.in_window(dtype));
        let [at] = merged_together([at.in_window(DType::I32)], 0..at.rank());
        Self { c, a, dtype, sliced: Some(Sliced { longer, axis, at }) }.checked()
    }

    /// The same, if its sizes fit in the uniform.
    fn checked(self) -> Result<Self> {
        self.dims().map(|_| self)
    }

    /// The name in plans.
    pub(super) fn op(&self) -> &'static str {
        match self.sliced.map(|sliced| sliced.longer) {
            None => OP,
            Some(Longer::C) => "copy_into_at",
            Some(Longer::A) => "slice_at",
        }
    }

    /// The longer operand, and the other, which is copied as a whole.
    fn whole_and_part(&self) -> [&Layout; 2] {
        match self.sliced {
            Some(Sliced { longer: Longer::C, .. }) => [&self.c, &self.a],
            _ => [&self.a, &self.c],
        }
    }

    /// The axes of what is copied, with the strides of C and A.
    fn axes(&self) -> Axes<2> {
        let [_, part] = self.whole_and_part();
        Axes::of(part.shape(), |axis| [self.c.strides()[axis], self.a.strides()[axis]])
    }

    /// The last position of the slice, and the elements from one position to the next, if there are several.
    fn shift(&self) -> [usize; 2] {
        let (Some(Sliced { axis, .. }), [whole, part]) = (self.sliced, self.whole_and_part()) else {
            return [0, 0];
        };
        let last = whole.shape()[axis] - part.shape()[axis];
        [last, if last > 0 { whole.strides()[axis] } else { 0 }]
    }

    /// The unit that the kernel moves.
    pub(super) fn unit(&self) -> Unit {
        let [_, shift] = self.shift();
        Unit::of(&self.axes(), [self.c.offset(), self.a.offset(), shift], self.dtype)
    }

    /// The shader's uniform.
    ///
    /// # Errors
    /// [`Error::Limit`] if a size is $2^{31}$ or more; a problem has none.
    pub(super) fn dims(&self) -> Result<CopyDims> {
        dim(OP, self.whole_and_part()[1].len())?;
        let (axes, unit) = (self.axes(), self.unit());
        let together = unit.elements(self.dtype);
        let mut axes = axes.iter().peekable();
        // The innermost axis is the row, unless its elements are parts of words that are not neighbours.
        let row = axes.next_if(|axis| unit != Unit::Parts || axis.strides[0] == 1);
        let row = row.copied().unwrap_or(Axis { extent: 1, strides: [1, 1] });
        let rows = axes.clone().map(|axis| axis.extent).product::<usize>();
        let row_units = match unit {
            Unit::Words(_) => row.extent / together,
            // As many words as the row touches if it begins with the last element of one.
            Unit::Parts => 1 + (row.extent - 1).div_ceil(per_word(self.dtype) as usize),
        };
        let along = |stride| if together == 1 { stride } else { 1 };
        let mut dims = CopyDims {
            c_offset: dim(OP, self.c.offset() / together)?,
            a_offset: dim(OP, self.a.offset() / together)?,
            c_stride: dim(OP, along(row.strides[0]))?,
            a_stride: dim(OP, along(row.strides[1]))?,
            row: dim(OP, row.extent / together)?,
            row_units: dim(OP, row_units)?,
            units: dim(OP, row_units.saturating_mul(rows))?,
            ..CopyDims::default()
        };
        let in_units =
            |axis: &Axis<2>| Axis { strides: axis.strides.map(|stride| stride / together), ..*axis };
        dims.rank = axes.map(in_units).collect::<Axes<2>>().put(OP, &mut dims.axes)?;
        if let Some(Sliced { longer, at, .. }) = self.sliced {
            let [last, shift] = self.shift();
            let shift = dim(OP, shift / together)?;
            let [of_c, of_a] = if longer == Longer::C { [shift, 0] } else { [0, shift] };
            // As `shaders/ops/shift.wgsl` reads them: in the last axes, which rows rarely have. Along the axes of rows `places`
            // multiplies by them, for an offset that copies do not read.
            let shift = [of_c, of_a, dim(OP, last)?, at.offset_in_window(DType::I32)];
            for (axis, number) in dims.axes.iter_mut().rev().zip(shift) {
                axis[3] = number;
            }
        }
        Ok(dims)
    }

    /// The layouts of what is written in C and read in A, relative to their windows: at position 0 of a slice.
    pub(super) fn touched(&self) -> Result<[Layout; 2]> {
        let of = |operand: &Layout| match self.sliced {
            None => Ok(*operand),
            Some(Sliced { axis, .. }) => operand.slice(axis, ..self.whole_and_part()[1].shape()[axis]),
        };
        Ok(merged_together([of(&self.c)?, of(&self.a)?], 0..self.c.rank()))
    }
}

/// Checks that all of one operand can be copied to or from a slice of the longer one.
pub(super) fn check_at_position(
    longer: Longer,
    [a, c]: [&Layout; 2],
    axis: usize,
    at: &Layout,
) -> Result<()> {
    let whole = if longer == Longer::C { c } else { a };
    if axis >= whole.rank() {
        return Err(Error::shapes(OP, "the axis must be one of the shape", whole.shape(), &[axis]));
    }
    let matches = |(i, (a, c)): (usize, (&usize, &usize))| match longer {
        _ if i != axis => a == c,
        Longer::C => a <= c,
        Longer::A => c <= a,
    };
    if a.rank() != c.rank() || !a.shape().iter().zip(c.shape()).enumerate().all(matches) {
        let rule = match longer {
            Longer::C => "the output must have the shape of the operand, or be longer along the axis",
            Longer::A => "the operand must have the shape of the output, or be longer along the axis",
        };
        return Err(Error::shapes(OP, rule, c.shape(), a.shape()));
    }
    if at.len() != 1 {
        return Err(Error::shape(OP, "the position must be a tensor of one element", at.shape()));
    }
    c.check_no_overlap(OP)
}

/// Checks that a view A can be copied into a view C.
pub(super) fn check_views(a: &Layout, c: &Layout) -> Result<()> {
    if a.shape() != c.shape() {
        return Err(Error::shapes(OP, "the output must have the shape of the operand", c.shape(), a.shape()));
    }
    c.check_no_overlap(OP)
}

impl Unit {
    /// The largest unit that divides the rows and their places in both operands: `starts` are those of the first row, and the
    /// distance by which it may move.
    fn of(axes: &Axes<2>, starts: [usize; 3], dtype: DType) -> Self {
        let size = dtype.size();
        let fits = |bytes: usize| {
            let together = bytes / size;
            let mut outer = axes.iter();
            let row = outer.next();
            let rows = row.is_some_and(|row| row.extent.is_multiple_of(together) && row.strides == [1, 1]);
            let mut places = outer.flat_map(|axis| &axis.strides).chain(&starts);
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
