//! Copies into tensors, concatenation and stacking.

use super::ordered::OrderedCopy;
use super::problem::OP;
use crate::error::call;
use crate::gpu::View;
use crate::layout::{Element, Layout, MAX_RANK};
use crate::tensor::Tensor;
use crate::{Error, Result};

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
        let (mut shape, mut strides) = (x.shape().to_vec(), x.strides().to_vec());
        match self {
            Self::Concat if axis >= shape.len() => {
                return Err(Error::shapes(op, "the axis must be one of the shape", &shape, &[axis]));
            }
            Self::Stack if axis > shape.len() => {
                let rule = "the new axis must be at most the number of axes";
                return Err(Error::shapes(op, rule, &shape, &[axis]));
            }
            Self::Stack if shape.len() == MAX_RANK => {
                return Err(Error::shape(op, "the tensors must have at most 5 axes", &shape));
            }
            Self::Concat => {}
            Self::Stack => {
                shape.insert(axis, 1);
                strides.insert(axis, 0);
            }
        }
        Layout::new(op, &shape, &strides, x.offset(), usize::MAX)
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
