//! Copies into tensors, concatenation and stacking.

use super::ordered::OrderedCopy;
use super::problem::{Longer, OP, check_at_position};
use crate::error::call;
use crate::gpu::{Cursor, View};
use crate::kernel::slice_along;
use crate::layout::{Element, Layout, MAX_RANK};
use crate::tensor::Tensor;
use crate::{Error, Result};
use std::sync::Arc;

/// Copies the elements of `a` to `c`, a uniquely owned tensor or a [`writable_view`](Tensor::writable_view).
///
/// One launch, which reads and writes each element once. It changes no bytes next to the elements of `c`, not even within
/// a word.
///
/// # Shapes
/// `a` has the shape of `c`, and any strides. The elements of `c` do not overlap.
/// # Errors
/// [`Error::Shape`] if the shapes differ, or elements of `c` overlap; [`Error::Input`] if `c` shares its buffer with `a`,
/// even if they do not overlap, or with others; [`Error::Gpu`] if the tensors are on different devices;
/// [`Error::Limit`] if a tensor has $2^{31}$ elements or more.
/// # Precision
/// Every bit is copied.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops;
///
/// // A cache of keys that grows by rows.
/// let cache = gpu.zeros::<f32>([4, 2])?;
/// for (n, row) in [[1.0f32, 2.0], [3.0, 4.0]].iter().enumerate() {
///     let row = gpu.tensor(row, [1, 2])?;
///     ops::copy_into(&row, &mut cache.slice(0, n..=n)?.writable_view())?;
/// }
/// assert_eq!(cache.slice(0, ..2)?.to_vec()?, [1.0, 2.0, 3.0, 4.0]);
/// # Ok(())
/// # }
/// ```
pub fn copy_into<T: Element>(a: &Tensor<T>, c: &mut Tensor<T>) -> Result<()> {
    call("copy_into", || {
        c.same_gpu(OP, a)?;
        let copy = OrderedCopy::new(a.layout(), c.layout(), T::DTYPE)?;
        if c.shares_buffer(a) {
            return Err(Error::input("copy_into: the output", "it shares its buffer with an operand"));
        }
        c.check_unshared(OP)?;
        copy.run(a, c)
    })
}

/// Concatenates tensors along an existing axis.
///
/// One launch for each tensor that is not empty. It reads the tensor's elements once and writes them once, to their
/// place in the result.
///
/// # Shapes
/// Tensors of up to 6 axes and any strides, whose extents are equal except along `axis`. The result has the sum of their
/// extents there: (2, 3) and (4, 3) along axis 0 -> (6, 3).
/// # Errors
/// [`Error::Shape`] if there is no tensor, a tensor has no such axis, or two differ in another extent; [`Error::Gpu`],
/// [`Error::Limit`] as [`copy_into`]; [`Error::OutOfMemory`] if the result does not fit.
/// # Precision
/// Every bit is copied: [`reference::concat`](crate::reference::concat).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let a = gpu.tensor(&[1, 2, 3, 4], [2, 2])?;
/// let b = gpu.tensor(&[5, 6], [2, 1])?;
/// assert_eq!(tilewise::ops::concat(&[&a, &b], 1)?.to_vec()?, [1, 2, 5, 3, 4, 6]);
/// # Ok(())
/// # }
/// ```
pub fn concat<T: Element>(tensors: &[&Tensor<T>], axis: usize) -> Result<Tensor<T>> {
    call("concat", || joined(Join::Concat, tensors, axis))
}

/// Stacks tensors of one shape along a new axis, which becomes axis `axis` of the result.
///
/// Launches as [`concat()`].
///
/// # Shapes
/// Tensors of one shape, with up to 5 axes and any strides: three of shape (2, 5) along axis 1 -> (2, 3, 5).
/// # Errors
/// [`Error::Shape`] if there is no tensor, two shapes differ, `axis` is larger than the number of axes, or the result has
/// more than 6 axes; otherwise as [`concat()`].
/// # Precision
/// Every bit is copied: [`reference::stack`](crate::reference::stack).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let (a, b) = (gpu.tensor(&[1, 2, 3], [3])?, gpu.tensor(&[4, 5, 6], [3])?);
/// let rows = tilewise::ops::stack(&[&a, &b], 0)?;
/// assert_eq!((rows.shape(), rows.to_vec()?), (&[2, 3][..], vec![1, 2, 3, 4, 5, 6]));
/// assert_eq!(tilewise::ops::stack(&[&a, &b], 1)?.to_vec()?, [1, 4, 2, 5, 3, 6]);
/// # Ok(())
/// # }
/// ```
pub fn stack<T: Element>(tensors: &[&Tensor<T>], axis: usize) -> Result<Tensor<T>> {
    call("stack", || joined(Join::Stack, tensors, axis))
}

/// How tensors are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Join {
    /// Along an existing axis.
    Concat,
    /// Along a new axis.
    Stack,
}

impl Join {
    fn op(self) -> &'static str {
        match self {
            Self::Concat => "concat",
            Self::Stack => "stack",
        }
    }

    /// The layout of a tensor, extended by the new axis if there is one.
    fn with_axis(self, x: &Layout, axis: usize) -> Result<Layout> {
        let op = self.op();
        match self {
            Self::Concat if axis >= x.rank() => {
                Err(Error::shapes(op, "the axis must be one of the shape", x.shape(), &[axis]))
            }
            Self::Stack if axis > x.rank() => {
                let rule = "the new axis must be at most the number of axes";
                Err(Error::shapes(op, rule, x.shape(), &[axis]))
            }
            Self::Stack if x.rank() == MAX_RANK => {
                Err(Error::shape(op, "the tensors must have at most 5 axes", x.shape()))
            }
            Self::Concat => Ok(*x),
            Self::Stack => Ok(x.with_axis(axis, 1, 0)),
        }
    }

    /// Checks that the shape of a tensor matches that of the first.
    fn check_match(self, first: &Layout, x: &Layout, axis: usize) -> Result<()> {
        let equal = |axes: std::ops::Range<usize>| first.shape().get(axes.clone()) == x.shape().get(axes);
        let (op, rank) = (self.op(), first.rank());
        let (matches, rule) = match self {
            Self::Concat => (
                x.rank() == rank && equal(0..axis) && equal(axis + 1..rank),
                "the shapes must be equal, except along the axis",
            ),
            Self::Stack => (first.shape() == x.shape(), "the shapes must be equal"),
        };
        if matches { Ok(()) } else { Err(Error::shapes(op, rule, first.shape(), x.shape())) }
    }
}

/// A new tensor with the tensors one after another along `axis`.
fn joined<T: Element>(join: Join, tensors: &[&Tensor<T>], axis: usize) -> Result<Tensor<T>> {
    let op = join.op();
    let Some(first) = tensors.first() else {
        return Err(Error::shape(op, "there must be at least one tensor", &[0]));
    };
    let layouts = tensors.iter().map(|x| {
        first.same_gpu(op, x)?;
        let layout = join.with_axis(x.layout(), axis)?;
        join.check_match(first.layout(), x.layout(), axis)?;
        Ok(layout)
    });
    let layouts = layouts.collect::<Result<Vec<Layout>>>()?;
    let mut shape = layouts[0].shape().to_vec();
    shape[axis] = layouts.iter().fold(0, |sum, layout| layout.shape()[axis].saturating_add(sum));
    let views: Vec<View<'_>> = tensors.iter().map(|x| x.view()).collect();
    let whole = Tensor::place(first.gpu(), &shape, &views)?;
    let mut end = 0;
    whole.write_with(|_| {
        tensors.iter().zip(&layouts).try_for_each(|(x, layout)| {
            let start = end;
            end += layout.shape()[axis];
            let place = whole.layout().slice(axis, start..end)?;
            let copy = OrderedCopy::new(layout, &place, T::DTYPE)?;
            copy.run(x, &whole.with_layout(place))
        })
    })?;
    Ok(whole)
}

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
