//! Padded tensors.

use super::problem::{OP, PadProblem, padded_shape};
use crate::Result;
use crate::error::call;
use crate::layout::{Element, bits};
use crate::plan::Scalar;
use crate::tensor::Tensor;

/// Surrounds a tensor with elements of one value: along each axis a number of elements before and after it.
///
/// One launch, which reads each element of `x` once and writes each element of the result once. Another value or size needs no
/// new kernel.
///
/// The gradient of `x` is a view of the result's gradient: [`slice`](Tensor::slice) `before..before + extent` along each axis.
///
/// # Shapes
/// `x` has up to 6 axes and any strides. `padding` has a pair (before, after) for each axis: (2, 3) by `[(0, 1), (2, 2)]` ->
/// (3, 7).
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) unless there is a pair for each axis, or if the number of elements overflows;
/// [`Error::Limit`](crate::Error::Limit) if a tensor has $2^{31}$ elements or more;
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the result does not fit.
/// # Precision
/// Every bit is copied: [`reference::pad`](crate::reference::pad).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let x = gpu.tensor(&[1, 2, 3, 4], [2, 2])?;
/// let padded = tilewise::ops::pad(&x, &[(1, 0), (0, 2)], -1)?;
/// assert_eq!(padded.shape(), [3, 4]);
/// assert_eq!(padded.to_vec()?, [-1, -1, -1, -1, 1, 2, -1, -1, 3, 4, -1, -1]);
/// # Ok(())
/// # }
/// ```
pub fn pad<T: Element>(x: &Tensor<T>, padding: &[(usize, usize)], value: T) -> Result<Tensor<T>> {
    call(OP, || {
        let (gpu, shape) = (x.gpu(), padded_shape(x.layout(), padding)?);
        if shape.contains(&0) {
            return gpu.empty(shape);
        }
        if x.is_empty() {
            return gpu.constant_tensor(value)?.broadcast_to(shape)?.contiguous();
        }
        let problem = PadProblem::new(x.layout(), padding, T::DTYPE)?;
        Tensor::computed(gpu, &problem, &[x.view()], &[Scalar::U32(bits(value))], shape)
    })
}
