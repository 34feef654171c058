//! Operations along one axis: what to compute, as plain data, and how.

use crate::error::{Named, call};
use crate::gpu::Caps;
use crate::kernel::{self, Kernel, Memory, Needs};
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Plan, Problem, Time};
use crate::tensor::{DType, Layout, MAX_RANK, Real, Tensor, dim};
use crate::{Error, Result};

/// Invocations of one workgroup, where the device allows as many.
const LANES: u32 = 256;
/// With as many rows as this, each has work for one invocation alone.
const MANY_ROWS: usize = 4096;

/// The uniform of `shaders/reduce.wgsl` and `shaders/softmax.wgsl` (`shaders/common/rows_dims.wgsl`), in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct RowsDims {
    pub axes: [[u32; 4]; MAX_RANK - 1],
    pub c_offset: u32,
    pub a_offset: u32,
    pub a_stride: u32,
    pub length: u32,
    pub rows: u32,
    pub rank: u32,
    pub lanes: u32,
    pub reserved: u32,
}

/// What is computed along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rows {
    /// The sum: the axis goes.
    Sum,
    /// The softmax: the axis stays.
    Softmax,
    /// The largest magnitude: the axis goes.
    MaxAbs,
    /// The sum of squares: the axis goes.
    SumSquares,
}

impl Rows {
    /// Every operation.
    pub const ALL: [Self; 4] = [Self::Sum, Self::Softmax, Self::MaxAbs, Self::SumSquares];

    fn op(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Softmax => "softmax",
            Self::MaxAbs => "max_abs",
            Self::SumSquares => "sum_squares",
        }
    }

    /// Operations for each element, about.
    fn flops(self) -> f64 {
        match self {
            Self::Sum | Self::MaxAbs => 1.0,
            Self::SumSquares => 2.0,
            // Two exponentials.
            Self::Softmax => 40.0,
        }
    }
}

/// An operation along one axis, checked: there is such an axis, and every size is below $2^{31}$. The result is
/// row-major without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowsProblem {
    /// The sizes, as the shaders have them.
    pub dims: RowsDims,
    /// The type of all elements.
    pub dtype: DType,
    /// What is computed.
    pub function: Rows,
    /// The axis along which it is computed.
    pub axis: usize,
}

impl RowsProblem {
    /// `function` along an axis of `a`, a view of `dtype` elements. There must be a row; of a softmax, none is empty.
    ///
    /// # Errors
    /// [`Error::Shape`] if there is no such axis; [`Error::Limit`] if a size is $2^{31}$ or more.
    pub fn new(function: Rows, a: &Layout, axis: usize, dtype: DType) -> Result<Self> {
        let op = function.op();
        check_axis(op, a, axis)?;
        let stride = |axis: usize| if a.shape()[axis] > 1 { a.strides()[axis] } else { 0 };
        let length = a.shape()[axis];
        let mut dims = RowsDims {
            a_offset: a.offset_in_window(dtype),
            a_stride: dim(op, stride(axis))?,
            length: dim(op, length)?,
            ..RowsDims::default()
        };
        let mut c_stride = if function == Rows::Softmax { length } else { 1 };
        let mut rows = 1;
        let others = (0..a.rank()).rev().filter(|&other| other != axis);
        for (to, other) in dims.axes.iter_mut().zip(others) {
            let extent = a.shape()[other];
            *to = [dim(op, extent)?, dim(op, c_stride)?, dim(op, stride(other))?, 0];
            c_stride *= extent;
            rows *= extent;
            dims.rank += 1;
        }
        dim(op, c_stride)?;
        dims.rows = dim(op, rows)?;
        // Lanes side by side read neighbours: along the axis where it is the innermost of memory, else across rows, as
        // long as there are enough of those.
        let outer = (0..a.rank()).any(|other| a.shape()[other] > 1 && stride(other) < stride(axis));
        dims.lanes = match function {
            Rows::Sum | Rows::MaxAbs | Rows::SumSquares if outer && rows >= MANY_ROWS => 1,
            _ => dims.length.div_ceil(4).max(1).next_power_of_two().min(LANES),
        };
        Ok(Self { dims, dtype, function, axis })
    }

    /// Where the elements of A lie.
    fn layout(&self) -> Result<Layout> {
        let d = &self.dims;
        let others = d.axes[..d.rank as usize].iter().rev().map(|axis| [axis[0], axis[2]]);
        let mut axes: Vec<[usize; 2]> = others.map(|axis| axis.map(|size| size as usize)).collect();
        axes.insert(self.axis, [d.length as usize, d.a_stride as usize]);
        let [shape, strides]: [Vec<usize>; 2] = [0, 1].map(|i| axes.iter().map(|axis| axis[i]).collect());
        Layout::new(self.function.op(), &shape, &strides, d.a_offset as usize, usize::MAX)
    }

    /// The sizes for a device: if its workgroups may have fewer invocations than `lanes`, a row is shared among fewer.
    fn dims_on(&self, caps: &Caps) -> RowsDims {
        RowsDims { lanes: self.dims.lanes.min(kernel::lanes(LANES, caps)), ..self.dims }
    }

    fn kernel(&self, caps: &Caps) -> Kernel {
        let memory = Memory::of(self.dtype, caps);
        let pairs = memory.per_scalar() == 2;
        let softmax = self.function == Rows::Softmax;
        // Rows of even length begin with a pair of their own, as does a row that is alone.
        let whole = softmax && (self.dims.length.is_multiple_of(2) || self.dims.rows == 1);
        let mut kernel = Kernel::new(if softmax { "softmax" } else { "reduce" })
            .dims(caps, size_of::<RowsDims>())
            .param("a_unit", if self.function == Rows::MaxAbs { "u32" } else { memory.scalar() })
            .param("c_unit", if pairs && !whole { "atomic<u32>" } else { memory.scalar() })
            .param("LANES", kernel::lanes(LANES, caps));
        if memory == Memory::Bf16 {
            kernel = kernel.slot("pack_pair", "pack_bf16");
        }
        match (self.function, memory) {
            (Rows::MaxAbs, _) => kernel = self.words(kernel),
            (_, Memory::Packed) => kernel = kernel.slot("load_a", "load_x_packed"),
            (_, Memory::Bf16) => kernel = kernel.slot("load_a", "load_x_bf16"),
            _ => {}
        }
        if self.function == Rows::SumSquares {
            kernel = kernel.slot("term", "term_square");
        }
        match (pairs, whole) {
            (true, true) => kernel.slot("store_quad", "store_quad_pairs"),
            (true, false) => kernel.slot("store_element", "store_element_packed"),
            (false, _) => kernel,
        }
    }

    /// Elements as bits, read from words.
    fn words(&self, kernel: Kernel) -> Kernel {
        let kernel = kernel
            .slot("term", "term_magnitude")
            .param("held", "u32")
            .param("A_PER_WORD", 4 / self.dtype.size());
        match self.dtype {
            DType::F16 => kernel.slot("widen", "widen_f16"),
            DType::Bf16 => kernel.slot("widen", "widen_bf16"),
            _ => kernel,
        }
    }
}

fn check_axis(op: &'static str, a: &Layout, axis: usize) -> Result<()> {
    if axis < a.rank() {
        return Ok(());
    }
    Err(Error::shapes(op, "the axis must be one of the shape", a.shape(), &[axis]))
}

impl Problem for RowsProblem {
    /// There is one kernel for softmax and one for all else, which differ by how elements lie in memory.
    ///
    /// Operands: A, the result.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let op = self.function.op();
        let (d, lanes) = (self.dims_on(caps), kernel::lanes(LANES, caps));
        let mut draft = Draft::new(op, &[], caps);
        let a = draft.operand("the operand", self.dtype, self.layout()?, Access::Read);
        let length = if self.function == Rows::Softmax { d.length as usize } else { 1 };
        let c = Layout::contiguous(op, &[d.rows as usize * length])?;
        let c = draft.operand("the result", self.dtype, c, Access::Write);
        let elements = f64::from(d.rows) * f64::from(d.length);
        draft.step(NewStep {
            kernel: self.kernel(caps),
            tile: format!("{lanes} invocations, {} a row, {}", d.lanes, self.dtype),
            needs: Needs {
                bindings: 2,
                invocations: lanes,
                workgroup_bytes: (4 * lanes).next_multiple_of(16),
            },
            blocks: u64::from(d.rows.div_ceil(lanes / d.lanes)),
            dims: Dims::of(&d),
            args: &[(a, Access::Read), (c, Access::Write)],
            flops: Flops::of_f32(elements * self.function.flops()),
            time: Time::Roofline,
        })?;
        Ok(draft.finish())
    }
}

/// Sums along one axis.
///
/// # Shapes
/// The result has the shape of `a` without `axis`; an axis of extent 0 has sums 0. Any view of up to 6 axes.
/// # Errors
/// [`Error::Shape`] if there is no such axis; [`Error::Limit`] if a tensor exceeds what the device can bind;
/// [`Error::OutOfMemory`] without room for the result.
/// # Precision
/// Summed in f32, in an order that depends on the layout alone, then stored:
/// $|s - \sum_{i} a_{i}| \le \gamma_{n} \sum_{i} |a_{i}|$, see [`reference::sum`](crate::reference::sum). A sum
/// beyond 65,504 is infinite in f16: cast before.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let a = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
/// assert_eq!(tilewise::ops::sum(&a, 0)?.to_vec()?, [5.0, 7.0, 9.0]);
/// assert_eq!(tilewise::ops::sum(&a, 1)?.to_vec()?, [6.0, 15.0]);
/// # Ok(())
/// # }
/// ```
pub fn sum<T: Real>(a: &Tensor<T>, axis: usize) -> Result<Tensor<T>> {
    reduce(Rows::Sum, a, axis).named("sum")
}

/// Sums of squares along one axis.
///
/// # Shapes
/// As [`sum`].
/// # Errors
/// As [`sum`].
/// # Precision
/// As [`sum`], of squares that are rounded to f32:
/// [`reference::sum_squares`](crate::reference::sum_squares). Squares below $2^{-126}$ may count as 0, and beyond
/// $2^{128}$ they are infinite: scale before.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let a = gpu.tensor(&[3.0f32, -4.0, 5.0, 12.0], [2, 2])?;
/// assert_eq!(tilewise::ops::sum_squares(&a, 1)?.to_vec()?, [25.0, 169.0]);
/// # Ok(())
/// # }
/// ```
pub fn sum_squares<T: Real>(a: &Tensor<T>, axis: usize) -> Result<Tensor<T>> {
    reduce(Rows::SumSquares, a, axis).named("sum_squares")
}

/// Largest magnitudes along one axis. NaN counts as more than infinity: it shows, wherever it is.
///
/// # Shapes
/// As [`sum`]; an axis of extent 0 has largest magnitudes 0.
/// # Errors
/// As [`sum`].
/// # Precision
/// Exact: bits are compared as integers.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let a = gpu.tensor(&[3.0f32, -4.0, f32::NAN, f32::INFINITY], [2, 2])?;
/// let found = tilewise::ops::max_abs(&a, 1)?.to_vec()?;
/// assert!(found[0] == 4.0 && found[1].is_nan());
/// # Ok(())
/// # }
/// ```
pub fn max_abs<T: Real>(a: &Tensor<T>, axis: usize) -> Result<Tensor<T>> {
    reduce(Rows::MaxAbs, a, axis).named("max_abs")
}

/// What takes an axis away.
fn reduce<T: Real>(function: Rows, a: &Tensor<T>, axis: usize) -> Result<Tensor<T>> {
    check_axis(function.op(), a.layout(), axis)?;
    let mut shape = a.shape().to_vec();
    shape.remove(axis);
    if shape.contains(&0) {
        return a.gpu().empty(shape);
    }
    if a.is_empty() {
        return a.gpu().zeros(shape);
    }
    run(function, a, axis, &shape)
}

/// Softmax along the last axis: $e^{x_{i}} / \sum_{j} e^{x_{j}}$. The maximum of each row is subtracted first, so that
/// no exponential overflows.
///
/// A row with a NaN or $+\infty$, or of nothing but $-\infty$, is NaN, as `NumPy` and `PyTorch` have it; a $-\infty$ beside
/// a number is 0.
///
/// # Shapes
/// The result has the shape of `a`, any view of 1 to 6 axes; rows of any length.
/// # Errors
/// [`Error::Shape`] if `a` has no axis; [`Error::Limit`], [`Error::OutOfMemory`] as [`sum`].
/// # Precision
/// Computed in f32, then stored: [`reference::softmax`](crate::reference::softmax).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let a = gpu.tensor(&[1000.0f32, 1000.0, 5.0, 5.0], [2, 2])?;
/// assert_eq!(tilewise::ops::softmax(&a)?.to_vec()?, [0.5; 4]);
/// # Ok(())
/// # }
/// ```
pub fn softmax<T: Real>(a: &Tensor<T>) -> Result<Tensor<T>> {
    call("softmax", || {
        let op = Rows::Softmax.op();
        let axis = a.shape().len().checked_sub(1);
        let axis = axis.ok_or_else(|| Error::shape(op, "the operand must have an axis", a.shape()))?;
        if a.is_empty() {
            return a.gpu().empty(a.shape());
        }
        run(Rows::Softmax, a, axis, a.shape())
    })
}

fn run<T: Real>(function: Rows, a: &Tensor<T>, axis: usize, shape: &[usize]) -> Result<Tensor<T>> {
    let gpu = a.gpu();
    let problem = RowsProblem::new(function, a.layout(), axis, T::DTYPE)?;
    let c = gpu.empty(shape)?;
    gpu.run(&problem, &[a.view(), c.view()], &[])?;
    Ok(c)
}
