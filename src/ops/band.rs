//! Triangles of matrices: the elements of a band of diagonals, and zeros elsewhere.

use crate::caps::Caps;
use crate::error::call;
use crate::kernel::{Kernel, shader_dims};
use crate::layout::{Axes, DType, Element, Layout, MAX_RANK, dim};
use crate::ops::packing::{per_word, plan_of_quads};
use crate::ops::windows::JOINS;
use crate::plan::{CutAxes, Dims, Draft, Flops, InWindows, Joins, Operand, Plan};
use crate::tensor::Tensor;
use crate::{Error, Result};
use std::ops::Range;

shader_dims! {
    /// The uniform of `shaders/ops/band.wgsl`.
    #[expect(unreachable_pub, reason = "the macro declares public structs")]
    pub struct BandDims {
        /// innermost first: extent, then the stride of A, 0, 0
        axes: [[u32; 4]; MAX_RANK],
        /// first element in its binding
        a_offset: u32,
        /// elements of C
        count: u32,
        /// number of axes, at least 1
        rank: u32,
        /// of a matrix
        rows: u32,
        columns: u32,
        /// the first diagonal that is copied: the column of its element in row 0
        lowest: i32,
        /// the last one
        highest: i32,
        reserved: u32,
    }
}

/// A checked copy of the elements of matrices that lie in a band of diagonals. Elements elsewhere are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BandProblem {
    op: &'static str,
    dims: BandDims,
    dtype: DType,
    /// The layout of the view, relative to its window.
    a: Layout,
}

impl BandProblem {
    /// The diagonals `lowest..=highest` of the matrices in a view that is not empty: diagonal d has the elements whose column is
    /// the row plus d. `op` is the function that errors name.
    ///
    /// # Errors
    /// [`Error::Shape`] if there are fewer than two axes, or no elements; [`Error::Limit`] if a size is $2^{31}$ or more.
    pub fn new(op: &'static str, a: &Layout, [lowest, highest]: [isize; 2], dtype: DType) -> Result<Self> {
        let &[.., rows, columns] = a.shape() else {
            return Err(Error::shape(op, "a matrix has two axes", a.shape()));
        };
        if a.is_empty() {
            return Err(Error::shape(op, "the view must have at least one element", a.shape()));
        }
        let a = a.in_window(dtype);
        // Neighbours along the axes of A.
        let axes = Axes::of(a.shape(), |at| [a.strides()[at]]).at_least_one();
        let mut dims = BandDims {
            a_offset: a.offset_in_window(dtype),
            count: dim(op, a.len())?,
            rows: dim(op, rows)?,
            columns: dim(op, columns)?,
            ..BandDims::default()
        };
        // Diagonals beyond the corners have no elements.
        let [below, above] = [dims.rows, dims.columns].map(u32::cast_signed);
        let inside =
            |diagonal: isize, beyond: i32| i32::try_from(diagonal).unwrap_or(beyond).clamp(-below, above);
        let beyond = |diagonal: isize| if diagonal < 0 { -below } else { above };
        (dims.lowest, dims.highest) = (inside(lowest, beyond(lowest)), inside(highest, beyond(highest)));
        dims.rank = axes.put(op, &mut dims.axes)?;
        Ok(Self { op, dims, dtype, a })
    }

    /// C and A.
    fn operands(&self) -> Result<Vec<Operand>> {
        let c = Layout::contiguous(self.op, self.a.shape())?;
        Ok(vec![Operand::written("the output", self.dtype, c), Operand::read("a", self.dtype, self.a)])
    }
}

impl InWindows for BandProblem {
    const JOINS: Joins = JOINS;

    fn cut_axes(&self) -> Result<CutAxes> {
        Ok(CutAxes::of(self.a.shape(), self.operands()?))
    }

    fn part(&self, layouts: &[Layout], ranges: &[Range<usize>]) -> Result<Self> {
        let rank = self.a.rank();
        // In a window, a row or a column has a smaller number.
        let [down, right] = [rank - 2, rank - 1].map(|axis| ranges[axis].start.cast_signed());
        let moved = |diagonal: i32| diagonal as isize + down - right;
        let diagonals = [moved(self.dims.lowest), moved(self.dims.highest)];
        Self::new(self.op, &layouts[1], diagonals, self.dtype)
    }

    /// One step, or one for each window.
    ///
    /// Operands: C, A.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(self.op, &[], caps);
        let args = draft.operands(&self.operands()?);
        let kernel = Kernel::new("ops/band").dims::<BandDims>(caps).param("PER_WORD", per_word(self.dtype));
        let (result, dims) = ((self.dims.count, self.dtype), Dims::of(&self.dims));
        plan_of_quads(draft, &args, kernel, result, dims, Flops::default())
    }
}

/// The lower triangles of matrices: elements above a diagonal become 0, also if they are NaN.
///
/// Diagonal 0 is the main one; 1 is the one above it, and -1 the one below. One launch. The gradient of `x` is `tril` of the
/// result's gradient.
///
/// # Shapes
/// `x` (.., rows, columns) has up to 6 axes and any strides. The result has the same shape.
/// # Errors
/// [`Error::Shape`] if there are fewer than two axes; [`Error::Limit`] if a tensor has $2^{31}$ elements or more;
/// [`Error::OutOfMemory`] if the result does not fit.
/// # Precision
/// Every bit is copied: [`reference::tril`](crate::reference::tril).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let x = gpu.tensor(&[1, 2, 3, 4, 5, 6], [2, 3])?;
/// assert_eq!(tilewise::ops::tril(&x, 0)?.to_vec()?, [1, 0, 0, 4, 5, 0]);
/// assert_eq!(tilewise::ops::triu(&x, 1)?.to_vec()?, [0, 2, 3, 0, 0, 6]);
/// # Ok(())
/// # }
/// ```
pub fn tril<T: Element>(x: &Tensor<T>, diagonal: isize) -> Result<Tensor<T>> {
    band("tril", x, [isize::MIN, diagonal])
}

/// The upper triangles of matrices: elements below a diagonal become 0, also if they are NaN. The diagonal counts as for
/// [`tril`]. The gradient of `x` is `triu` of the result's gradient.
///
/// # Shapes
/// As [`tril`].
/// # Errors
/// As [`tril`].
/// # Precision
/// Every bit is copied: [`reference::triu`](crate::reference::triu).
pub fn triu<T: Element>(x: &Tensor<T>, diagonal: isize) -> Result<Tensor<T>> {
    band("triu", x, [diagonal, isize::MAX])
}

fn band<T: Element>(op: &'static str, x: &Tensor<T>, diagonals: [isize; 2]) -> Result<Tensor<T>> {
    call(op, || {
        if x.is_empty() && x.shape().len() >= 2 {
            return x.gpu().empty(x.shape());
        }
        let problem = BandProblem::new(op, x.layout(), diagonals, T::DTYPE)?;
        Tensor::computed(x.gpu(), &problem, &[x.view()], &[], x.shape())
    })
}
