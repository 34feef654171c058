//! Sums, differences, products, quotients, powers, and the smaller and larger of two values.

use super::argument::Argument;
use super::compute::{apply, compute_into};
use super::function::Function;
use super::operation::Elementwise;
use crate::error::{Named, call};
use crate::layout::{Element, Real};
use crate::tensor::Tensor;
use crate::{Error, Result};

/// The elementwise sum $a + b$ of tensors, or of a tensor and a number. The operator `+` does the same.
///
/// # Shapes
/// The operands broadcast as in `NumPy`: counted from the last axis, extents are equal, or one of them is 1 or missing.
/// (3, 1) and (4) -> (3, 4). Transposed, sliced and broadcast views are read in place.
/// # Errors
/// [`Error::Shape`] if extents differ and neither is 1; [`Error::Input`] if both arguments are numbers, or a number is a
/// real and the elements are integers; [`Error::Gpu`] if the operands are on different devices; [`Error::Limit`] if a tensor has $2^{31}$
/// elements or more; [`Error::OutOfMemory`] if the result does not fit.
/// # Precision
/// Reals are computed in f32, then stored: [`reference::add`](crate::reference::add). Integers are exact and wrap.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let column = gpu.tensor(&[10.0f32, 20.0], [2, 1])?;
/// let row = gpu.tensor(&[1.0f32, 2.0, 3.0], [3])?;
/// let sums = tilewise::ops::add(&column, &row)?;
/// assert_eq!(sums.shape(), [2, 3]);
/// assert_eq!(sums.to_vec()?, [11.0, 12.0, 13.0, 21.0, 22.0, 23.0]);
/// assert_eq!(tilewise::ops::add(&row, 0.5)?.to_vec()?, [1.5, 2.5, 3.5]);
/// # Ok(())
/// # }
/// ```
pub fn add<'a, T: Element>(
    a: impl Into<Argument<'a, T>>,
    b: impl Into<Argument<'a, T>>,
) -> Result<Tensor<T>> {
    apply(Function::Add, [a.into(), b.into()]).named("add")
}

/// The elementwise difference $a - b$. The operator `-` does the same.
///
/// # Shapes
/// As [`add`].
/// # Errors
/// As [`add`].
/// # Precision
/// Reals are computed in f32, then stored: [`reference::sub`](crate::reference::sub). Integers are exact and wrap.
pub fn sub<'a, T: Element>(
    a: impl Into<Argument<'a, T>>,
    b: impl Into<Argument<'a, T>>,
) -> Result<Tensor<T>> {
    apply(Function::Sub, [a.into(), b.into()]).named("sub")
}

/// The elementwise product $ab$. The operator `*` does the same.
///
/// # Shapes
/// As [`add`].
/// # Errors
/// As [`add`].
/// # Precision
/// Reals are computed in f32, then stored: [`reference::mul`](crate::reference::mul). Integers are exact and wrap.
pub fn mul<'a, T: Element>(
    a: impl Into<Argument<'a, T>>,
    b: impl Into<Argument<'a, T>>,
) -> Result<Tensor<T>> {
    apply(Function::Mul, [a.into(), b.into()]).named("mul")
}

/// The elementwise quotient $a / b$ of reals. The operator `/` does the same.
///
/// A number divided by 0 is infinite, and 0 / 0 is NaN, as in IEEE 754.
///
/// # Shapes
/// As [`add`].
/// # Errors
/// As [`add`].
/// # Precision
/// Computed in f32, then stored: [`reference::apply`](crate::reference::apply).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let x = gpu.tensor(&[1.0f32, -3.0, 0.0], [3])?;
/// assert_eq!(tilewise::ops::div(&x, 2.0)?.to_vec()?, [0.5, -1.5, 0.0]);
/// assert!(tilewise::ops::div(&x, &x)?.to_vec()?[2].is_nan());
/// # Ok(())
/// # }
/// ```
pub fn div<'a, T: Real>(a: impl Into<Argument<'a, T>>, b: impl Into<Argument<'a, T>>) -> Result<Tensor<T>> {
    apply(Function::Div, [a.into(), b.into()]).named("div")
}

/// The elementwise power $a^b$ of reals.
///
/// As IEEE's `pow`: 1 if b is 0 or a is 1 (also if the other is NaN), NaN if a is negative and b is no integer. For squares,
/// [`square`](super::square) is faster.
///
/// # Shapes
/// As [`add`].
/// # Errors
/// As [`add`].
/// # Precision
/// Computed in f32, then stored: [`reference::apply`](crate::reference::apply). The error is below an ulp of f32, so the result
/// is exact if f32 represents it, as for small integer powers of integers; $a^{1}$ has the bits of a. Results beyond the range of
/// f32 are infinite, and those below $2^{-126}$ are 0.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let x = gpu.tensor(&[5.0f32, 10.0, -2.0], [3])?;
/// assert_eq!(tilewise::ops::pow(&x, 3.0)?.to_vec()?, [125.0, 1000.0, -8.0]);
/// # Ok(())
/// # }
/// ```
pub fn pow<'a, T: Real>(a: impl Into<Argument<'a, T>>, b: impl Into<Argument<'a, T>>) -> Result<Tensor<T>> {
    apply(Function::Pow, [a.into(), b.into()]).named("pow")
}

/// The elementwise smaller of two values; NaN if either is NaN.
///
/// # Shapes
/// As [`add`].
/// # Errors
/// As [`add`].
/// # Precision
/// Exact, except that subnormal reals may count as 0.
pub fn minimum<'a, T: Element>(
    a: impl Into<Argument<'a, T>>,
    b: impl Into<Argument<'a, T>>,
) -> Result<Tensor<T>> {
    apply(Function::Minimum, [a.into(), b.into()]).named("minimum")
}

/// The elementwise larger of two values; NaN if either is NaN.
///
/// # Shapes
/// As [`add`].
/// # Errors
/// As [`add`].
/// # Precision
/// Exact, except that subnormal reals may count as 0.
pub fn maximum<'a, T: Element>(
    a: impl Into<Argument<'a, T>>,
    b: impl Into<Argument<'a, T>>,
) -> Result<Tensor<T>> {
    apply(Function::Maximum, [a.into(), b.into()]).named("maximum")
}

/// Writes the sum $a + b$ to `c`, a uniquely owned tensor. Nothing is allocated.
///
/// # Shapes
/// `c` has the shape of the result of [`add`], and any strides without overlap.
/// # Errors
/// As [`add`]; [`Error::Shape`] if `c` has another shape or its elements overlap; [`Error::Input`] if another tensor
/// shares its buffer.
/// # Precision
/// As [`add`].
pub fn add_into<T: Element>(a: &Tensor<T>, b: &Tensor<T>, c: &mut Tensor<T>) -> Result<()> {
    compute_into(Function::Add.into(), &[a, b], c).named("add_into")
}

/// Writes the difference $a - b$ to `c`, a uniquely owned tensor.
///
/// # Shapes
/// As [`add_into`].
/// # Errors
/// As [`add_into`].
/// # Precision
/// As [`sub`].
pub fn sub_into<T: Element>(a: &Tensor<T>, b: &Tensor<T>, c: &mut Tensor<T>) -> Result<()> {
    compute_into(Function::Sub.into(), &[a, b], c).named("sub_into")
}

/// Writes the elementwise product $ab$ to `c`, a uniquely owned tensor.
///
/// # Shapes
/// As [`add_into`].
/// # Errors
/// As [`add_into`].
/// # Precision
/// As [`mul`].
pub fn mul_into<T: Element>(a: &Tensor<T>, b: &Tensor<T>, c: &mut Tensor<T>) -> Result<()> {
    compute_into(Function::Mul.into(), &[a, b], c).named("mul_into")
}

/// The operation in errors of sums in place.
const OP: &str = "add_assign";

/// Adds `bias` to every row of `x`, in place. `x` is an operand and the output, as in Rust's `AddAssign`: one launch,
/// no allocation.
///
/// # Shapes
/// `x` (..., n), with any strides without overlap; `bias` (n).
/// # Errors
/// [`Error::Shape`] if `bias` does not have one axis as long as the last axis of `x`, or elements of `x` overlap;
/// [`Error::Input`] if another tensor shares the buffer of `x`; [`Error::Gpu`] and [`Error::Limit`] as [`add`].
/// # Precision
/// As [`add`].
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let mut x = gpu.zeros::<f32>([2, 3])?;
/// tilewise::ops::bias_add_assign(&mut x, &gpu.tensor(&[1.0f32, 2.0, 3.0], [3])?)?;
/// assert_eq!(x.to_vec()?, [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
/// # Ok(())
/// # }
/// ```
pub fn bias_add_assign<T: Element>(x: &mut Tensor<T>, bias: &Tensor<T>) -> Result<()> {
    call("bias_add_assign", || {
        if bias.shape().len() != 1 || x.shape().last() != bias.shape().last() {
            let rule = "the bias must have one axis, as long as the last axis of x";
            return Err(Error::shapes(OP, rule, bias.shape(), x.shape()));
        }
        compute_into(Elementwise::ADD_ASSIGN, &[bias], x)
    })
}

/// Adds `a` to `x`, in place. `x` is an operand and the output, as in Rust's `AddAssign`.
///
/// # Shapes
/// `x` has any strides without overlap; `a` broadcasts to the shape of `x`.
/// # Errors
/// [`Error::Shape`] if `a` does not broadcast to the shape of `x`, or elements of `x` overlap; otherwise as
/// [`bias_add_assign`].
/// # Precision
/// As [`add`].
pub fn add_assign<T: Element>(x: &mut Tensor<T>, a: &Tensor<T>) -> Result<()> {
    compute_into(Elementwise::ADD_ASSIGN, &[a], x).named("add_assign")
}

/// Subtracts `a` from `x`, in place. `x` is an operand and the output, as in Rust's `SubAssign`.
///
/// # Shapes
/// As [`add_assign`].
/// # Errors
/// As [`add_assign`].
/// # Precision
/// As [`sub`].
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let mut x = gpu.tensor(&[5.0f32, 7.0], [2])?;
/// tilewise::ops::sub_assign(&mut x, &gpu.tensor(&[1.0f32], [1])?)?;
/// assert_eq!(x.to_vec()?, [4.0, 6.0]);
/// # Ok(())
/// # }
/// ```
pub fn sub_assign<T: Element>(x: &mut Tensor<T>, a: &Tensor<T>) -> Result<()> {
    compute_into(Elementwise::Update(Function::Sub), &[a], x).named("sub_assign")
}

/// Multiplies `x` by `a`, in place. `x` is an operand and the output, as in Rust's `MulAssign`.
///
/// # Shapes
/// As [`add_assign`].
/// # Errors
/// As [`add_assign`].
/// # Precision
/// As [`mul`].
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let mut x = gpu.tensor(&[5.0f32, 7.0], [2])?;
/// tilewise::ops::mul_assign(&mut x, &gpu.tensor(&[2.0f32], [1])?)?;
/// assert_eq!(x.to_vec()?, [10.0, 14.0]);
/// # Ok(())
/// # }
/// ```
pub fn mul_assign<T: Element>(x: &mut Tensor<T>, a: &Tensor<T>) -> Result<()> {
    compute_into(Elementwise::Update(Function::Mul), &[a], x).named("mul_assign")
}
