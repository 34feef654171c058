//! A checked choice of elements by index, as plain data.

use crate::kernel::shader_dims;
use crate::layout::{Axes, DType, Layout, MAX_RANK, dim, known};
use crate::ops::vectors::{Moves, per_vector};
use crate::{Error, Result};

/// The rule in the error for ids with too many axes.
pub(in crate::ops) const TOO_MANY_AXES_OF_IDS: &str = "the ids must have at most 5 axes";

shader_dims! {
    /// The uniform of `shaders/ops/gather.wgsl`, `gather_vectors.wgsl` and `gather_more.wgsl` (`gather_dims.wgsl`).
    pub struct GatherDims {
        /// of C, innermost first: extent, then the strides of A and of the indices, then 0
        axes: [[u32; 4]; MAX_RANK],
        /// first elements, or vectors, in the bindings
        a_offset: u32,
        index_offset: u32,
        /// along the axis of A that is indexed
        a_stride: u32,
        /// of that axis
        extent: u32,
        /// elements, or vectors, of C
        count: u32,
        /// number of axes, at least 1
        rank: u32,
        /// the bits of the result of an index out of range
        missing: u32,
        /// index of the first position of A's window along that axis
        start: u32,
    }
}

/// The elements that an index takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Taken {
    /// All elements of one position along this axis. The indices have one axis.
    Positions(usize),
    /// One element. Its position along this axis is the value of the index, along other axes the place of the index.
    Elements(usize),
    /// A row of a table. The indices have any shape.
    Rows,
}

/// A checked choice of elements of A by index, in a contiguous C that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GatherProblem {
    pub(super) taken: Taken,
    /// The layouts of A and of the indices, relative to their windows.
    pub(super) a: Layout,
    pub(super) indices: Layout,
    /// Type of the elements of A and C.
    pub(super) dtype: DType,
    /// The index of A's first position. If it is not 0, A is a further window of the operand.
    pub(super) start: usize,
}

impl Taken {
    /// The name in errors and plans.
    pub(super) fn op(self) -> &'static str {
        match self {
            Self::Positions(_) => "index_select",
            Self::Elements(_) => "gather",
            Self::Rows => "embedding",
        }
    }

    /// The axis of A that is indexed.
    pub(super) fn axis(self) -> usize {
        match self {
            Self::Positions(axis) | Self::Elements(axis) => axis,
            Self::Rows => 0,
        }
    }

    /// The shape of C.
    ///
    /// # Errors
    /// [`Error::Shape`] if `a` has no such axis, the shapes do not match, or `a` has nothing to take, but there are indices.
    pub(crate) fn shape(self, a: &Layout, indices: &Layout) -> Result<Vec<usize>> {
        let op = self.op();
        let fails = |rule| Err(Error::shapes(op, rule, a.shape(), indices.shape()));
        let axis = self.axis();
        if self == Self::Rows && a.rank() != 2 {
            return Err(Error::shape(op, "the table must have two axes", a.shape()));
        }
        if axis >= a.rank() {
            return Err(Error::shapes(op, "the axis must be one of the shape", a.shape(), &[axis]));
        }
        let mut shape = a.shape().to_vec();
        match self {
            Self::Positions(_) if indices.rank() != 1 => return fails("the indices must have one axis"),
            Self::Positions(_) => shape[axis] = indices.shape()[0],
            Self::Elements(_) => {
                let fits = (0..a.rank()).all(|at| at == axis || indices.shape().get(at) <= a.shape().get(at));
                if indices.rank() != a.rank() || !fits {
                    return fails(
                        "the indices must have the axes of the operand, none longer except the indexed one",
                    );
                }
                shape = indices.shape().to_vec();
            }
            Self::Rows if indices.rank() >= MAX_RANK => {
                return Err(Error::shape(op, TOO_MANY_AXES_OF_IDS, indices.shape()));
            }
            Self::Rows => {
                shape = indices.shape().to_vec();
                shape.push(a.shape()[1]);
            }
        }
        if a.shape()[axis] == 0 && !shape.contains(&0) {
            return fails(match self {
                Self::Rows => "the table must have rows if there are ids",
                _ => "the indexed axis must not be empty if there are indices",
            });
        }
        Ok(Layout::contiguous(op, &shape)?.shape().to_vec())
    }
}

impl GatherProblem {
    /// The choice from `a`, a view of `dtype` elements, by a view of i32. C must not be empty.
    ///
    /// # Errors
    /// [`Error::Shape`] if the shapes do not match; [`Error::Limit`] if a size is $2^{31}$ or more.
    pub fn new(taken: Taken, a: &Layout, indices: &Layout, dtype: DType) -> Result<Self> {
        Self::from_start(taken, (a, 0), indices, dtype)
    }

    /// The same from a window of the operand, whose first position has the index `start`.
    pub(super) fn from_start(
        taken: Taken,
        (a, start): (&Layout, usize),
        indices: &Layout,
        dtype: DType,
    ) -> Result<Self> {
        let (op, axis) = (taken.op(), taken.axis());
        let shape = taken.shape(a, indices)?;
        let (a, indices) = (a.in_window(dtype), indices.in_window(DType::I32));
        for size in [shape.iter().product(), a.strides()[axis], a.shape()[axis], start] {
            dim(op, size)?;
        }
        let problem = Self { taken, a, indices, dtype, start };
        problem.axes(&shape).sizes(op)?;
        Ok(problem)
    }

    /// C, which is contiguous.
    pub(super) fn c(&self) -> Result<Layout> {
        Layout::contiguous(self.taken.op(), &self.taken.shape(&self.a, &self.indices)?)
    }

    /// The axes of A and of the indices along an axis of C.
    pub(super) fn axes_along(&self, at: usize) -> [Option<usize>; 2] {
        match self.taken {
            Taken::Positions(axis) if at == axis => [None, Some(0)],
            Taken::Positions(_) => [Some(at), None],
            Taken::Elements(axis) if at == axis => [None, Some(at)],
            Taken::Elements(_) => [Some(at), Some(at)],
            Taken::Rows if at < self.indices.rank() => [None, Some(at)],
            Taken::Rows => [Some(1), None],
        }
    }

    /// The axes of C, of this shape, with the strides of A and of the indices.
    fn axes(&self, shape: &[usize]) -> Axes<2> {
        let stride = |of: &Layout, axis: Option<usize>| axis.map_or(0, |axis| of.strides()[axis]);
        let strides = |at| {
            let [of_a, of_indices] = self.axes_along(at);
            [stride(&self.a, of_a), stride(&self.indices, of_indices)]
        };
        Axes::of(shape, strides).at_least_one()
    }

    /// The shaders' uniform, and how the kernel moves elements: in vectors if each row of C consists of whole vectors of one
    /// row of A.
    ///
    /// # Errors
    /// None, because the problem has been checked.
    pub(super) fn dims(&self) -> Result<(GatherDims, Moves)> {
        let (c, axis) = (self.c()?, self.taken.axis());
        let mut d = GatherDims {
            a_offset: self.a.offset_in_window(self.dtype),
            index_offset: self.indices.offset_in_window(DType::I32),
            a_stride: known(self.a.strides()[axis]),
            extent: known(self.a.shape()[axis]),
            count: known(c.len()),
            // NaN, or the integer 0.
            missing: self.dtype.nearest(f64::NAN).0,
            start: known(self.start),
            ..GatherDims::default()
        };
        d.rank = self.axes(c.shape()).put_known(&mut d.axes);
        let [length, sa, si, _] = d.axes[0];
        let outer = d.axes[1..d.rank as usize].iter().map(|axis| axis[1]);
        let starts = outer.chain([length, d.a_stride, d.a_offset]);
        if self.start > 0 || si > 0 || Moves::of(self.dtype, [sa], starts) == Moves::Elements {
            return Ok((d, Moves::Elements));
        }
        let together = per_vector(self.dtype);
        d.axes[0] = [length / together, 1, 0, 0];
        for axis in &mut d.axes[1..d.rank as usize] {
            axis[1] /= together;
        }
        for size in [&mut d.a_offset, &mut d.a_stride, &mut d.count] {
            *size /= together;
        }
        // The bits of all elements of a word.
        d.missing = match self.dtype.size() {
            1 => d.missing * 0x0101_0101,
            2 => d.missing * 0x0001_0001,
            _ => d.missing,
        };
        Ok((d, Moves::Vectors))
    }
}
