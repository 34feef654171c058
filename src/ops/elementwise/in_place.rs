//! Sums, differences and products in place.

use super::compute::update;
use super::function::Function;
use crate::error::{Named, call};
use crate::layout::Element;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// The name of the operation in errors of sums in place.
const OP: &str = "add_assign";

/// Adds `bias` to every row of `x`, in place. `x` is an operand and the output, as in Rust's `AddAssign`: one launch,
/// no allocation.
///
/// # Shapes
/// `x` (..., n), with any strides without overlap; `bias` (n).
/// # Errors
/// [`Error::Shape`] if `bias` does not have one axis as long as the last axis of `x`, or elements of `x` overlap;
/// [`Error::Input`] if another tensor shares the buffer of `x`; [`Error::Gpu`] and [`Error::Limit`] as [`add`](crate::ops::add).
/// # Precision
/// As [`add`](crate::ops::add).
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
        update(Function::Add, bias, x)
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
/// As [`add`](crate::ops::add).
pub fn add_assign<T: Element>(x: &mut Tensor<T>, a: &Tensor<T>) -> Result<()> {
    update(Function::Add, a, x).named("add_assign")
}

/// Subtracts `a` from `x`, in place. `x` is an operand and the output, as in Rust's `SubAssign`.
///
/// # Shapes
/// As [`add_assign`].
/// # Errors
/// As [`add_assign`].
/// # Precision
/// As [`sub`](crate::ops::sub).
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
    update(Function::Sub, a, x).named("sub_assign")
}

/// Multiplies `x` by `a`, in place. `x` is an operand and the output, as in Rust's `MulAssign`.
///
/// # Shapes
/// As [`add_assign`].
/// # Errors
/// As [`add_assign`].
/// # Precision
/// As [`mul`](crate::ops::mul).
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
    update(Function::Mul, a, x).named("mul_assign")
}
