//! A checked elementwise function, as plain data.

use super::operation::Elementwise;
use crate::layout::{Axes, DType, Layout, MAX_RANK, dim};
use crate::ops::vectors::{Moves, quads};
use crate::{Error, Result};

/// The largest number of operands, without C.
pub(super) const MAX_OPERANDS: usize = 4;

/// The uniform of `shaders/ops/elementwise.wgsl` and `elementwise_vectors.wgsl` (`elementwise_dims.wgsl`), in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct ElementwiseDims {
    pub axes: [[u32; 4]; MAX_RANK],
    pub offsets: [u32; 4],
    pub units: u32,
    pub rank: u32,
    pub numbers: [u32; 2],
}

/// The uniform for more than two operands or numbers: the variant `four`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct ElementwiseDimsOfFour {
    pub axes: [[u32; 4]; MAX_RANK],
    pub offsets: [u32; 4],
    pub units: u32,
    pub rank: u32,
    pub numbers: [u32; 2],
    pub more_axes: [[u32; 4]; MAX_RANK / 2],
    pub more_offsets: [u32; 4],
    pub more_numbers: [[u32; 4]; 2],
}

/// An operand that is only read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Operand {
    pub(super) dtype: Option<DType>,
    /// The strides along the merged axes, innermost first.
    pub(super) strides: [u32; MAX_RANK],
    /// The first element in its binding.
    pub(super) offset: u32,
}

/// A checked elementwise function: the operands broadcast to the output's shape, and the output's elements do not
/// overlap.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ElementwiseProblem {
    pub(super) function: Elementwise,
    /// The type of the results in memory.
    pub(super) dtype: DType,
    /// The extents of the merged axes, innermost first.
    pub(super) extents: [u32; MAX_RANK],
    pub(super) rank: usize,
    /// C's strides and the first element in its binding.
    pub(super) c: ([u32; MAX_RANK], u32),
    /// Those that are there come first.
    pub(super) operands: [Operand; MAX_OPERANDS],
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
        let layouts = || [(c, dtype)].into_iter().chain(operands.iter().copied());
        let strides: Vec<[usize; MAX_RANK]> =
            layouts().map(|(x, _)| x.broadcast_strides(op, c)).collect::<Result<_>>()?;
        // Along each axis: the strides of C and the operands, 0 of those that are not there.
        let of_axis = |axis: usize| -> [usize; 1 + MAX_OPERANDS] {
            std::array::from_fn(|x| strides.get(x).map_or(0, |strides| strides[axis]))
        };
        let axes = Axes::of(c.shape(), of_axis).at_least_one();
        dim(op, c.len())?;
        let mut extents = [1; MAX_RANK];
        let mut sizes = vec![[0; MAX_RANK]; strides.len()];
        for (at, axis) in axes.iter().enumerate() {
            extents[at] = dim(op, axis.extent)?;
            for (to, &stride) in sizes.iter_mut().zip(&axis.strides) {
                to[at] = dim(op, stride)?;
            }
        }
        let mut found = layouts().zip(&sizes).map(|((x, dtype), &strides)| Operand {
            dtype: Some(dtype),
            strides,
            offset: x.offset_in_window(dtype),
        });
        let c = found.next().map_or_else(Default::default, |c| (c.strides, c.offset));
        let mut operands = [Operand::default(); MAX_OPERANDS];
        operands.iter_mut().zip(found).for_each(|(to, operand)| *to = operand);
        Ok(Self { function, dtype, extents, rank: axes.len(), c, operands })
    }

    /// The number of merged axes.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The existing operands, with their types.
    pub(super) fn operands(&self) -> impl Iterator<Item = (Operand, DType)> + Clone {
        self.operands.into_iter().filter_map(|operand| operand.dtype.map(|dtype| (operand, dtype)))
    }

    /// The types of the operands.
    pub(super) fn dtypes(&self) -> Vec<DType> {
        self.operands().map(|(_, dtype)| dtype).collect()
    }

    /// How the kernel moves elements: in vectors (operands that are repeated along the rows are loaded once), or one by
    /// one.
    pub(super) fn moves(&self) -> Moves {
        let width = 4 * self.vector_quads();
        let is_row = |strides: &[u32; MAX_RANK], offset: u32| {
            strides[0] == 1 && strides[1..].iter().chain([&offset]).all(|start| start.is_multiple_of(width))
        };
        let c = is_row(&self.c.0, self.c.1);
        let all = self.operands().all(|(x, _)| x.is_repeated() || is_row(&x.strides, x.offset));
        if c && all { Moves::Vectors } else { Moves::Elements }
    }

    /// Groups of four elements in a vector: 16 bytes if all elements have the same size, else four elements.
    pub(super) fn vector_quads(&self) -> u32 {
        let moved = self.operands().filter(|(x, _)| !x.is_repeated());
        let is_same = moved.into_iter().all(|(_, dtype)| dtype.size() == self.dtype.size());
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
        let units = self.extents[0].div_ceil(self.per_unit());
        let rows: usize = self.extents[1..].iter().map(|&extent| extent as usize).product();
        Ok([units, dim(self.function.op(), units as usize * rows)?])
    }

    /// The uniform.
    pub(super) fn dims(&self) -> Result<ElementwiseDimsOfFour> {
        let [units, all] = self.units()?;
        let [x0, x1, x2, x3] = &self.operands;
        let axis = |at: usize| [self.extents[at], self.c.0[at], x0.strides[at], x1.strides[at]];
        let more = |at: usize| [x2.strides[at], x3.strides[at], x2.strides[at + 1], x3.strides[at + 1]];
        Ok(ElementwiseDimsOfFour {
            axes: std::array::from_fn(axis),
            offsets: [self.c.1, x0.offset, x1.offset, all],
            units,
            rank: dim(self.function.op(), self.rank)?,
            numbers: [0; 2],
            more_axes: std::array::from_fn(|pair| more(2 * pair)),
            more_offsets: [x2.offset, x3.offset, 0, 0],
            more_numbers: [[0; 4]; 2],
        })
    }

    /// The layouts of C and the operands.
    pub(super) fn layouts(&self) -> Result<Vec<Layout>> {
        let axes = 0..self.rank;
        let of = |sizes: &[u32; MAX_RANK]| -> Vec<usize> {
            sizes[axes.clone()].iter().rev().map(|&size| size as usize).collect()
        };
        let shape = of(&self.extents);
        let layout = |(strides, offset): ([u32; MAX_RANK], u32)| {
            Layout::new(self.function.op(), &shape, &of(&strides), offset as usize, usize::MAX)
        };
        let operands = self.operands().map(|(x, _)| (x.strides, x.offset));
        [self.c].into_iter().chain(operands).map(layout).collect()
    }
}

impl Operand {
    /// Whether a row repeats one element.
    pub(super) fn is_repeated(&self) -> bool {
        self.strides[0] == 0
    }
}

impl ElementwiseDimsOfFour {
    /// The uniform for at most two operands and numbers.
    pub(super) fn of_two(&self) -> ElementwiseDims {
        let Self { axes, offsets, units, rank, numbers, .. } = *self;
        ElementwiseDims { axes, offsets, units, rank, numbers }
    }
}
