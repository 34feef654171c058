//! Copies to and from a position that is in a tensor.

use super::ordered::OrderedCopy;
use super::problem::{Longer, OP, check_at_position};
use crate::error::call;
use crate::gpu::Cursor;
use crate::kernel::slice_along;
use crate::layout::{Element, Layout};
use crate::tensor::Tensor;
use crate::{Error, Result};
use std::sync::Arc;

/// Copies the elements of `a` to `c`, beginning at the position `at` along `axis`. The device reads the position from a
/// tensor, so each run of a [`Replay`](crate::Replay) may copy to another position. Other elements of `c` keep their
/// values.
///
/// One launch, which reads and writes each element of `a` once. It writes nothing next to these elements, not even within a
/// word. A negative position counts as 0. A position that is too large counts as the last one at which `a` fits,
/// `c.shape()[axis] - a.shape()[axis]`. Neither is an error, because the host does not know the number. For the same reason,
/// all of `c` counts as missing if the launch never runs, until [`Tensor::revert`] declares it valid again. XLA calls this
/// `dynamic_update_slice`.
///
/// # Shapes
/// `a` has the shape of `c`, except that it may be shorter along `axis`, and any strides: (2, 1, 64) to a position of
/// (2, 100, 64) along axis 1. `c` is a uniquely owned tensor or a [`writable_view`](Tensor::writable_view), whose elements
/// do not overlap. `at` has one element, and any number of axes.
/// # Errors
/// [`Error::Shape`] if the shapes do not match, there is no such axis, elements of `c` overlap, or `at` has more or fewer
/// elements than one; [`Error::Input`] if `c` shares its buffer with `a` or `at`, or with others; [`Error::Gpu`] if the
/// tensors are on different devices; [`Error::Limit`] if a tensor has $2^{31}$ elements or more, or the positions of `c` along
/// `axis`, with those of one index of the other axes, exceed the device's binding size.
/// # Precision
/// Every bit is copied.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops;
///
/// let mut cache = gpu.zeros::<f32>([4, 2])?;
/// let (row, at) = (gpu.tensor(&[1.0f32, 2.0], [1, 2])?, gpu.tensor(&[2], [1])?);
/// ops::copy_into_at(&row, &mut cache, 0, &at)?;
/// assert_eq!(cache.to_vec()?, [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 0.0]);
/// # Ok(())
/// # }
/// ```
pub fn copy_into_at<T: Element>(
    a: &Tensor<T>,
    c: &mut Tensor<T>,
    axis: usize,
    at: &Tensor<i32>,
) -> Result<()> {
    call("copy_into_at", || {
        c.same_gpu(OP, a)?;
        c.same_gpu(OP, at)?;
        let copy =
            OrderedCopy::at_position(Longer::C, [a.layout(), c.layout()], axis, at.layout(), T::DTYPE)?;
        if c.shares_buffer(a) {
            return Err(Error::input("copy_into_at: the output", "it shares its buffer with an operand"));
        }
        if c.shares_buffer(at) {
            return Err(Error::input("copy_into_at: the output", "it shares its buffer with the position"));
        }
        c.check_unshared(OP)?;
        c.write_with(|to| copy.launch(a, to, Some(at))).map_err(|error| slice_along(error, axis))
    })
}

/// Copies the elements of `a` into the whole tensor `c`, after the filled positions along `axis`. The tensor `at` is the word
/// of the cursor. If a run of a replay is lost, the positions that this run should have filled count as missing.
pub(crate) fn copy_filling<T: Element>(
    a: &Tensor<T>,
    c: &Tensor<T>,
    axis: usize,
    (cursor, at): (&Arc<Cursor>, &Tensor<i32>),
) -> Result<()> {
    let copy = OrderedCopy::at_position(Longer::C, [a.layout(), c.layout()], axis, at.layout(), T::DTYPE)?;
    if c.shares_buffer(a) {
        return Err(Error::input(format!("{OP}: the output"), "it shares its buffer with an operand"));
    }
    let filled = c.gpu().filled_part(cursor, &c.view(), axis);
    c.write_with(|to| copy.launch(a, to.using(&filled), Some(at)))
}

/// Copies `len` positions of `a` along `axis`, beginning at the position `at`, to a new tensor. The device reads the position
/// from a tensor, so each run of a [`Replay`](crate::Replay) may copy from another position.
///
/// One launch, which reads and writes each of these elements once. If the host knows the position, [`Tensor::slice`] is a
/// view and needs no launch. A negative position counts as 0. A position that is too large counts as the last one,
/// `a.shape()[axis] - len`. Neither is an error, because the host does not know the number. XLA calls this `dynamic_slice`.
///
/// # Shapes
/// `a` has up to 6 axes and any strides. The result has its shape, with `len` in place of the extent of the axis: 1 position
/// of (2, 100, 64) along axis 1 is (2, 1, 64). `at` has one element, and any number of axes.
/// # Errors
/// [`Error::Shape`] if there is no such axis, `len` is larger than its extent, or `at` has more or fewer elements than one;
/// [`Error::Gpu`] if the tensors are on different devices; [`Error::Limit`] if a tensor has $2^{31}$ elements or more, or
/// the positions of `a` along `axis`, with those of one index of the other axes, exceed the device's binding size;
/// [`Error::OutOfMemory`] if the result does not fit.
/// # Precision
/// Every bit is copied.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let (table, at) = (gpu.tensor(&[1, 2, 3, 4, 5, 6], [3, 2])?, gpu.tensor(&[1], [1])?);
/// let rows = tilewise::ops::slice_at(&table, 0, &at, 2)?;
/// assert_eq!(rows.to_vec()?, [3, 4, 5, 6]);
/// # Ok(())
/// # }
/// ```
pub fn slice_at<T: Element>(a: &Tensor<T>, axis: usize, at: &Tensor<i32>, len: usize) -> Result<Tensor<T>> {
    call("slice_at", || {
        a.same_gpu(OP, at)?;
        let mut shape = a.shape().to_vec();
        let Some(extent) = shape.get_mut(axis) else {
            return Err(Error::shapes(OP, "the axis must be one of the shape", a.shape(), &[axis]));
        };
        if len > *extent {
            return Err(Error::shapes(
                OP,
                "the length must be at most the extent of the axis",
                a.shape(),
                &[len],
            ));
        }
        *extent = len;
        let layout = Layout::contiguous(OP, &shape)?;
        // Checked before memory for the result is allocated.
        check_at_position(Longer::A, [a.layout(), &layout], axis, at.layout())?;
        let c = Tensor::place(a.gpu(), &shape, &[a.view(), at.view()])?;
        let copy =
            OrderedCopy::at_position(Longer::A, [a.layout(), c.layout()], axis, at.layout(), T::DTYPE)?;
        c.overwrite_with(|to| copy.launch(a, to, Some(at))).map_err(|error| slice_along(error, axis))?;
        Ok(c)
    })
}
