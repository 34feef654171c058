//! A checked choice of elements by index, as plain data.

use crate::kernel::shader_dims;
use crate::layout::{Axes, DType, Element, F8E4M3, F8E5M2, Layout, MAX_RANK, dim};
use crate::ops::vectors::{Moves, per_vector};
use crate::{Error, Result};
use half::{bf16, f16};

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
    /// The shaders' uniform.
    pub(super) dims: GatherDims,
    /// Type of the elements of A and C.
    pub(super) dtype: DType,
    pub(super) taken: Taken,
    /// The layouts of A and of the indices, relative to their windows.
    pub(super) a: Layout,
    pub(super) indices: Layout,
    pub(super) moves: Moves,
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
        let mut problem = Self::of_elements(taken, a, indices, dtype)?;
        problem.take_vectors();
        Ok(problem)
    }

    /// The same, element by element.
    pub(super) fn of_elements(taken: Taken, a: &Layout, indices: &Layout, dtype: DType) -> Result<Self> {
        let (op, axis) = (taken.op(), taken.axis());
        let shape = taken.shape(a, indices)?;
        let (a, indices) = (a.in_window(dtype), indices.in_window(DType::I32));
        // Along an axis of C: the strides of A and of the indices.
        let strides = |at: usize| match taken {
            Taken::Positions(_) if at == axis => [0, indices.strides()[0]],
            Taken::Positions(_) => [a.strides()[at], 0],
            Taken::Elements(_) if at == axis => [0, indices.strides()[at]],
            Taken::Elements(_) => [a.strides()[at], indices.strides()[at]],
            Taken::Rows if at < indices.rank() => [0, indices.strides()[at]],
            Taken::Rows => [a.strides()[1], 0],
        };
        let axes = Axes::of(&shape, strides).at_least_one();
        let count = dim(op, shape.iter().product())?;
        let mut dims = GatherDims {
            a_offset: a.offset_in_window(dtype),
            index_offset: indices.offset_in_window(DType::I32),
            a_stride: dim(op, a.strides()[axis])?,
            extent: dim(op, a.shape()[axis])?,
            count,
            missing: missing(dtype),
            ..GatherDims::default()
        };
        dims.rank = axes.put(op, &mut dims.axes)?;
        Ok(Self { dims, dtype, taken, a, indices, moves: Moves::Elements })
    }

    /// Counts vectors instead of elements if each row of C consists of whole vectors of one row of A.
    fn take_vectors(&mut self) {
        let together = per_vector(self.dtype);
        let d = &mut self.dims;
        let [length, sa, si, _] = d.axes[0];
        let outer = d.axes[1..d.rank as usize].iter().map(|axis| axis[1]);
        let starts = outer.chain([length, d.a_stride, d.a_offset]);
        if si > 0 || Moves::of(self.dtype, [sa], starts) == Moves::Elements {
            return;
        }
        self.moves = Moves::Vectors;
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
    }

    /// The shader's uniform.
    #[must_use]
    pub fn dims(&self) -> &GatherDims {
        &self.dims
    }
}

/// The bits of the result of an index out of range: NaN, or the integer 0.
pub(super) fn missing(dtype: DType) -> u32 {
    match dtype {
        DType::F32 => f32::from_f64(f64::NAN).to_bits(),
        DType::F16 => f16::NAN.to_bits().into(),
        DType::Bf16 => bf16::NAN.to_bits().into(),
        DType::I8 | DType::I32 => 0,
        DType::F8E4M3 => F8E4M3::NAN.to_bits().into(),
        DType::F8E5M2 => F8E5M2::NAN.to_bits().into(),
    }
}
