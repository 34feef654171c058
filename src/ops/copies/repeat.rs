//! Tensors that are repeated along an axis.

use crate::error::call;
use crate::layout::{Element, MAX_RANK};
use crate::ops::copy::ordered::OrderedCopy;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// Repeats a tensor as a whole along an axis: `[1, 2]` twice is `[1, 2, 1, 2]`. `NumPy` and XLA call this `tile`.
///
/// One launch, which reads each element once and writes it `times` times; a tensor of 6 axes with gaps is copied first. If the
/// result is only an operand, a view needs no copy: [`broadcast_to`](Tensor::broadcast_to) repeats along an axis of extent 1.
/// To repeat each element (`[1, 1, 2, 2]`), insert an axis after this one with [`unsqueeze`](Tensor::unsqueeze), repeat along
/// the new axis, and [`reshape`](Tensor::reshape).
///
/// The gradient of `x` is the sum of the result's gradient over the repetitions: with `g.reshape([.., times, extent, ..])`, the
/// [`sum`](crate::ops::sum) along the axis of `times`.
///
/// # Shapes
/// `x` has up to 6 axes and any strides. The result has `times` times as many positions along the axis: (2, 3) three times
/// along axis 1 -> (2, 9).
/// # Errors
/// [`Error::Shape`] if there is no such axis, or the number of elements overflows; [`Error::Limit`] if a tensor has $2^{31}$
/// elements or more; [`Error::OutOfMemory`] if the result does not fit.
/// # Precision
/// Every bit is copied: [`reference::repeat`](crate::reference::repeat).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops;
///
/// let x = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
/// let twice = ops::repeat(&x, 1, 2)?;
/// assert_eq!(twice.to_vec()?, [1.0, 2.0, 1.0, 2.0, 3.0, 4.0, 3.0, 4.0]);
/// let gradient = ops::sum(&twice.reshape([2, 2, 2])?, 1)?; // of the sum of squares, halved
/// assert_eq!(gradient.to_vec()?, [2.0, 4.0, 6.0, 8.0]);
/// # Ok(())
/// # }
/// ```
pub fn repeat<T: Element>(x: &Tensor<T>, axis: usize, times: usize) -> Result<Tensor<T>> {
    call("repeat", || {
        let mut shape = x.shape().to_vec();
        let Some(extent) = shape.get_mut(axis) else {
            return Err(Error::shapes("repeat", "the axis must be one of the shape", x.shape(), &[axis]));
        };
        *extent = extent.saturating_mul(times);
        if shape.contains(&0) {
            return x.gpu().empty(shape);
        }
        let whole = Tensor::place(x.gpu(), &shape, &[x.view()])?;
        // The copy has one more axis than `x`. If `x` already has the maximum number of axes, it is first reshaped to
        // two: the axes before `axis`, and the others.
        let (x, axis) = if shape.len() == MAX_RANK {
            let [outer, inner] = [&x.shape()[..axis], &x.shape()[axis..]].map(|axes| axes.iter().product());
            (x.contiguous()?.reshape([outer, inner])?, 1)
        } else {
            (x.clone(), axis)
        };
        let mut with_times = x.shape().to_vec();
        with_times.insert(axis, times);
        let from = x.layout().unsqueeze(axis)?.broadcast_to(&with_times)?;
        let copy = OrderedCopy::new(&from, &whole.layout().reshape(&with_times)?, T::DTYPE)?;
        copy.run(&x, &whole)?;
        Ok(whole)
    })
}
