//! Tensors whose elements the device computes from their index: one value, identities, numbers at equal distances.

use crate::caps::Caps;
use crate::error::call;
use crate::kernel::{Kernel, shader_dims};
use crate::layout::{DType, Element, Layout, Real, Summand, bits, dim};
use crate::ops::packing::{constant, per_word, plan_of_quads};
use crate::ops::windows::JOINS;
use crate::plan::{CutAxes, Dims, Draft, Flops, InWindows, Joins, Operand, Plan, Scalar, ScalarParameter};
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result};
use std::mem::offset_of;
use std::ops::Range;

shader_dims! {
    /// The uniform of `shaders/ops/by_index.wgsl`.
    #[expect(unreachable_pub, reason = "the macro declares public structs")]
    pub struct ByIndexDims {
        /// of elements
        count: u32,
        /// the index of the first one
        first: u32,
        /// of a matrix
        columns: u32,
        /// the bits of an element; of numbers at equal distances the first one, as f32 or i32
        value: u32,
        /// the distance, as f32 or i32
        step: u32,
        /// the last number, as f32
        last: u32,
        /// from the first number to the last
        steps: u32,
        reserved: u32,
    }
}

/// What an element is, given its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByIndex {
    /// One value.
    Value,
    /// A value on the diagonal of a matrix with this number of columns, 0 elsewhere.
    Diagonal(usize),
    /// A first number, and a step for each index.
    Steps,
    /// The same in reals, counted from the nearer end.
    Between,
}

/// A checked request for elements by their index. The call passes the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ByIndexProblem {
    op: &'static str,
    element: ByIndex,
    /// The number of elements, and the index of the first.
    count: u32,
    first: u32,
    columns: u32,
    dtype: DType,
}

/// The numbers of a call, as the shader takes them.
#[derive(Clone, Copy, Default)]
struct Values {
    value: u32,
    step: u32,
    last: u32,
    steps: u32,
}

impl ByIndexProblem {
    /// `count` elements for the function that errors call `op`.
    ///
    /// # Errors
    /// [`Error::Shape`] for no elements or no columns; [`Error::Limit`] for $2^{31}$ or more.
    pub fn new(op: &'static str, element: ByIndex, count: usize, dtype: DType) -> Result<Self> {
        let columns = if let ByIndex::Diagonal(columns) = element { columns } else { 1 };
        if count == 0 || columns == 0 {
            return Err(Error::shape(op, "there must be at least one element", &[count, columns]));
        }
        if element == ByIndex::Steps {
            dtype.check_computed(op)?;
        }
        if element == ByIndex::Between && !dtype.is_real() {
            return Err(Error::input(format!("{op}: the type"), format!("it must be of reals, not {dtype}")));
        }
        Ok(Self { op, element, count: dim(op, count)?, first: 0, columns: dim(op, columns)?, dtype })
    }

    fn output(&self) -> Operand {
        Operand::written("the output", self.dtype, Layout::line(self.count as usize))
    }
}

impl InWindows for ByIndexProblem {
    const JOINS: Joins = JOINS;

    fn cut_axes(&self) -> Result<CutAxes> {
        Ok(CutAxes::of(&[self.count as usize], vec![self.output()]))
    }

    fn part(&self, _: &[Layout], ranges: &[Range<usize>]) -> Result<Self> {
        let Range { start, end } = ranges[0];
        Ok(Self { first: self.first + dim(self.op, start)?, count: dim(self.op, end - start)?, ..*self })
    }

    /// One step, or one for each window.
    ///
    /// Operands: the output. Scalars: `value`, `step`, `last` and `steps` of the shader.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let scalars = ["value", "step", "last", "steps"].map(ScalarParameter::u32);
        let mut draft = Draft::new(self.op, &scalars, caps);
        let args = draft.operands(&[self.output()]);
        let Self { count, first, columns, .. } = *self;
        let element = match self.element {
            ByIndex::Value => "VALUE",
            ByIndex::Diagonal(_) => "DIAGONAL",
            ByIndex::Steps => "STEPS",
            ByIndex::Between => "BETWEEN",
        };
        let dims = Dims::of(&ByIndexDims { count, first, columns, ..ByIndexDims::default() })
            .scalar(offset_of!(ByIndexDims, value), 0)
            .scalar(offset_of!(ByIndexDims, step), 1)
            .scalar(offset_of!(ByIndexDims, last), 2)
            .scalar(offset_of!(ByIndexDims, steps), 3);
        let kernel = Kernel::new("ops/by_index")
            .dims::<ByIndexDims>(caps)
            .param("TO", constant(self.dtype))
            .param("PER_WORD", per_word(self.dtype))
            .param("ELEMENT", element);
        plan_of_quads(draft, &args, kernel, (count, self.dtype), dims, Flops::default())
    }
}

impl Gpu {
    /// Creates a tensor of ones.
    ///
    /// # Errors
    /// As [`full`](Self::full).
    pub fn ones<T: Element>(&self, shape: impl AsRef<[usize]>) -> Result<Tensor<T>> {
        let values = Values { value: bits(T::from_f64(1.0)), ..Values::default() };
        by_index(self, "ones", ByIndex::Value, shape.as_ref(), values)
    }

    /// Creates a tensor of one value, by one launch without an upload. Another value or size needs no new kernel.
    ///
    /// # Errors
    /// [`Error::Shape`] if the number of elements overflows, or for more than 6 axes; [`Error::Limit`] for $2^{31}$ elements or
    /// more; [`Error::OutOfMemory`] if they do not fit.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// assert_eq!(gpu.full([2, 2], 7)?.to_vec()?, [7; 4]);
    /// assert_eq!(gpu.eye::<f32>([2, 3])?.to_vec()?, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    /// assert_eq!(gpu.arange(10, 0, -4)?.to_vec()?, [10, 6, 2]);
    /// assert_eq!(gpu.linspace(-1.0f32, 1.0, 5)?.to_vec()?, [-1.0, -0.5, 0.0, 0.5, 1.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn full<T: Element>(&self, shape: impl AsRef<[usize]>, value: T) -> Result<Tensor<T>> {
        let values = Values { value: bits(value), ..Values::default() };
        by_index(self, "full", ByIndex::Value, shape.as_ref(), values)
    }

    /// Creates a matrix (rows, columns) with ones on its diagonal, and zeros elsewhere: [`reference::eye`](crate::reference::eye).
    ///
    /// # Errors
    /// As [`full`](Self::full).
    pub fn eye<T: Element>(&self, shape: [usize; 2]) -> Result<Tensor<T>> {
        let values = Values { value: bits(T::from_f64(1.0)), ..Values::default() };
        by_index(self, "eye", ByIndex::Diagonal(shape[1]), &shape, values)
    }

    /// Creates the numbers `start`, `start + step`, `start + 2 * step` and so on, that lie before `end`. If `end` is `start` there
    /// are none. Their number is computed in f64: the last of reals, once it is rounded, may be `end`, as in `NumPy`.
    ///
    /// # Shapes
    /// The result has one axis of `((end - start) / step).ceil()` elements, computed in f64.
    /// # Errors
    /// [`Error::Input`] if a number is NaN or infinite, or if the step is 0 or leads away from `end`, or if reals lie
    /// further apart than an f32 holds; otherwise as [`full`](Self::full).
    /// # Precision
    /// Integers are exact. Reals are computed in f32 as `start + i * step`: i, the product and the sum are rounded, each by a
    /// relative $2^{-23}$ at most, so whole numbers up to $2^{24}$ are exact. f16 and bf16 round the result once more, to the nearest:
    /// [`reference::arange`](crate::reference::arange).
    pub fn arange<T: Summand>(&self, start: T, end: T, step: T) -> Result<Tensor<T>> {
        let count = count(start.to_f64(), end.to_f64(), step.to_f64())?;
        let reach = count.saturating_sub(1) as f64 * step.to_f64().abs();
        if T::DTYPE.is_real() && reach > f64::from(f32::MAX) {
            let why =
                format!("the last number lies {reach:e} from the first, which is more than an f32 holds");
            return Err(Error::input("arange: the step", why));
        }
        let values = Values { value: number(start), step: number(step), ..Values::default() };
        by_index(self, "arange", ByIndex::Steps, &[count], values)
    }

    /// Creates `count` numbers at equal distances. The first is `start` and the last is exactly `end`; a single one is `start`.
    ///
    /// # Errors
    /// [`Error::Input`] if a number is NaN or infinite; otherwise as [`full`](Self::full).
    /// # Precision
    /// Numbers between the ends are computed in f32 from the nearer end. The error is at most $\gamma_{6}$ of the larger magnitude of
    /// `start` and `end`, and $2^{-126}$ where a device flushes subnormal numbers; f16 and bf16 round the result once more, to the nearest:
    /// [`reference::linspace`](crate::reference::linspace).
    pub fn linspace<T: Real>(&self, start: T, end: T, count: usize) -> Result<Tensor<T>> {
        finite("linspace", [("start", start.to_f64()), ("end", end.to_f64())])?;
        let steps = u32::try_from(count.saturating_sub(1)).unwrap_or(u32::MAX); // the problem refuses more
        let values = Values { value: number(start), last: number(end), steps, ..Values::default() };
        by_index(self, "linspace", ByIndex::Between, &[count], values)
    }
}

/// A number as the shader takes it: the bits of an f32 or i32.
fn number<T: Element>(value: T) -> u32 {
    if T::DTYPE.is_real() {
        f32::from_f64(value.to_f64()).to_bits()
    } else {
        i32::from_f64(value.to_f64()).cast_unsigned()
    }
}

/// The number of elements from `start` to before `end`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is not negative, and saturates"
)]
fn count(start: f64, end: f64, step: f64) -> Result<usize> {
    finite("arange", [("start", start), ("end", end), ("step", step)])?;
    let steps = (end - start) / step;
    if step == 0.0 || steps < 0.0 {
        let why = format!("steps of {step} never lead from {start} to {end}");
        return Err(Error::input("arange: the step", why));
    }
    Ok(steps.ceil() as usize)
}

fn finite<const N: usize>(op: &str, numbers: [(&str, f64); N]) -> Result<()> {
    match numbers.into_iter().find(|(_, number)| !number.is_finite()) {
        Some((name, number)) => {
            Err(Error::input(format!("{op}: {name}"), format!("it must be finite; got {number}")))
        }
        None => Ok(()),
    }
}

fn by_index<T: Element>(
    gpu: &Gpu,
    op: &'static str,
    element: ByIndex,
    shape: &[usize],
    values: Values,
) -> Result<Tensor<T>> {
    call(op, || {
        let layout = Layout::contiguous(op, shape)?;
        if layout.is_empty() {
            return gpu.empty(shape);
        }
        let problem = ByIndexProblem::new(op, element, layout.len(), T::DTYPE)?;
        let Values { value, step, last, steps } = values;
        Tensor::computed(gpu, &problem, &[], &[value, step, last, steps].map(Scalar::U32), shape)
    })
}
