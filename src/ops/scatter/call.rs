//! Additions to indexed elements of tensors.

use super::problem::{ScatterProblem, Target};
use crate::error::call;
use crate::layout::{Element, Layout, Real};
use crate::ops::gather::Indices;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// Adds each value to one element of `c`. Along `axis` the element's position is the value of the index; along other axes it
/// is the place of the index in `indices`. It is the gradient of [`gather`](crate::ops::gather): `PyTorch` calls it
/// `scatter_add_`.
///
/// The values of an element are added in the row-major order of their indices, in groups of 512 sorted indices. Then the sum
/// is added to the element of `c`. So the result has the same bits in every run. **An index out of range**, or a negative
/// one, is no error: its value is not added.
///
/// # Cost
/// The device sorts the n indices: blocks of 256 in one launch, then $\lceil \log_{2}(n / 256) \rceil$ launches that merge
/// them. Three more launches find where the values of each element begin, and add them: 10 launches for 10,000 indices.
/// While it runs, it needs 16 bytes of memory for each index and 4 for each element of `c`.
///
/// # Shapes
/// `indices` and `values` have the same shape, with as many axes as `c`; along other axes than `axis`, `c` may be longer. All
/// may have any strides. `c` is a uniquely owned tensor or a [`writable_view`](Tensor::writable_view), whose elements do not
/// overlap.
/// # Errors
/// [`Error::Shape`] if there is no such axis, the shapes do not match, or elements of `c` overlap; [`Error::Input`] if `c`
/// shares its buffer with the indices or values, or with others; [`Error::Gpu`] if the tensors are on different devices;
/// [`Error::Limit`] if the indices, or the memory for sorting them, exceed the device's binding size;
/// [`Error::OutOfMemory`] if there is no memory for sorting.
/// # Precision
/// Reals are added in f32, and rounded to their type once: $|c - s| \le \gamma_{n} \sum |v|$ for n values of an element, `c`
/// included, see [`reference::scatter_add`](crate::reference::scatter_add). Integers are exact, and wrap.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// // How often each number from 0 to 3 occurs.
/// let numbers = gpu.tensor(&[1, 3, 1, 1, 0], [5])?;
/// let ones = gpu.tensor(&[1], [1])?.broadcast_to([5])?;
/// let mut counts = gpu.zeros::<i32>([4])?;
/// tilewise::ops::scatter_add(&mut counts, 0, &numbers, &ones)?;
/// assert_eq!(counts.to_vec()?, [1, 3, 0, 1]);
/// # Ok(())
/// # }
/// ```
pub fn scatter_add<T: Element>(
    c: &mut Tensor<T>,
    axis: usize,
    indices: &Tensor<i32>,
    values: &Tensor<T>,
) -> Result<()> {
    call("scatter_add", || add_to(Target::Elements(axis), c, indices, values))
}

/// Adds each position of `values` along `axis` to the position of `c` that its index names. It is the gradient of
/// [`index_select`](crate::ops::index_select); `PyTorch` calls it `index_add_`.
///
/// Order, cost and indices out of range are as for [`scatter_add`]; one position counts as one element. An index that the host
/// knows (`&[2, 0]`) and that is out of range is an error.
///
/// # Shapes
/// The indices have one axis. `values` has the shape of `c`, but its extent along the axis is the number of indices: values
/// of (2, 3, 64) and 3 indices along axis 1 for `c` of (2, 100, 64). `c` is as for [`scatter_add`].
/// # Errors
/// As [`scatter_add`]; [`Error::Input`] if the host knows that an index is out of range.
/// # Precision
/// As [`scatter_add`]: [`reference::index_add`](crate::reference::index_add).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// // What the edges of a graph bring to its nodes.
/// let messages = gpu.tensor(&[1.0f32, 1.5, 2.0, 2.5, 4.0, 4.5], [3, 2])?;
/// let ends = gpu.tensor(&[1, 0, 1], [3])?;
/// let mut nodes = gpu.zeros::<f32>([2, 2])?;
/// tilewise::ops::index_add(&mut nodes, 0, &ends, &messages)?;
/// assert_eq!(nodes.to_vec()?, [2.0, 2.5, 5.0, 6.0]);
/// # Ok(())
/// # }
/// ```
pub fn index_add<'a, T: Element>(
    c: &mut Tensor<T>,
    axis: usize,
    indices: impl Into<Indices<'a>>,
    values: &Tensor<T>,
) -> Result<()> {
    call("index_add", || {
        // If there is no such axis, the check of the shapes returns the error.
        let extent = c.shape().get(axis).copied().unwrap_or(usize::MAX);
        let indices = indices.into().on("index_add", c.gpu(), extent)?;
        add_to(Target::Positions(axis), c, &indices, values)
    })
}

/// The gradient of the table of an [`embedding`](crate::ops::embedding): row r is the sum of the gradients of all places with
/// id r. Places with the id `padding` (other frameworks call it the padding index) are left out.
///
/// Order, cost and ids out of range are as for [`scatter_add`]; one row counts as one element.
///
/// # Shapes
/// `ids` has up to 5 axes. `g`, the gradient of the result, has the axes of `ids` and then d: ids of (3, 7) and `g` of (3, 7,
/// 16). The result is (rows, d), without gaps. If `padding` is no row, nothing is left out.
/// # Errors
/// [`Error::Shape`] if the shapes do not match; otherwise as [`scatter_add`]; [`Error::OutOfMemory`] if the result does not fit.
/// # Precision
/// As [`scatter_add`] to zeros: [`reference::embedding_backward`](crate::reference::embedding_backward).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let ids = gpu.tensor(&[2, 0, 2], [3])?;
/// let g = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [3, 2])?;
/// let gradient = tilewise::ops::embedding_backward(&ids, &g, 3, None)?;
/// assert_eq!(gradient.to_vec()?, [3.0, 4.0, 0.0, 0.0, 6.0, 8.0]);
/// let gradient = tilewise::ops::embedding_backward(&ids, &g, 3, Some(2))?;
/// assert_eq!(gradient.to_vec()?, [3.0, 4.0, 0.0, 0.0, 0.0, 0.0]);
/// # Ok(())
/// # }
/// ```
pub fn embedding_backward<T: Real>(
    ids: &Tensor<i32>,
    g: &Tensor<T>,
    rows: usize,
    padding: Option<usize>,
) -> Result<Tensor<T>> {
    let target = Target::Rows { padding };
    let op = target.op();
    call(op, || {
        let gpu = g.same_gpu(op, ids)?;
        let Some(&d) = g.shape().last() else {
            return Err(Error::shape(op, "the gradient must have an axis", g.shape()));
        };
        let shape = [rows, d];
        let layouts = [&Layout::contiguous(op, &shape)?, ids.layout(), g.layout()];
        target.check(layouts)?;
        if shape.contains(&0) {
            return gpu.empty(shape);
        }
        if ids.is_empty() {
            // Without an upload, so that the closure of a capture may call it.
            return gpu.constant_tensor(T::from_f64(0.0))?.broadcast_to(shape)?.contiguous();
        }
        let problem = ScatterProblem::new(target, layouts, T::DTYPE)?;
        Tensor::computed(gpu, &problem, &[ids.view(), g.view()], &[], shape)
    })
}

/// Adds values to the indexed elements of `c`.
fn add_to<T: Element>(
    target: Target,
    c: &Tensor<T>,
    indices: &Tensor<i32>,
    values: &Tensor<T>,
) -> Result<()> {
    let op = target.op();
    c.same_gpu(op, indices)?;
    let gpu = c.same_gpu(op, values)?;
    T::DTYPE.check_computed(op)?;
    let layouts = [c.layout(), indices.layout(), values.layout()];
    target.check(layouts)?;
    for (what, shares) in [("the indices", c.shares_buffer(indices)), ("the values", c.shares_buffer(values))]
    {
        if shares {
            return Err(Error::input(
                format!("{op}: the output"),
                format!("it shares its buffer with {what}"),
            ));
        }
    }
    c.check_unshared(op)?;
    if c.is_empty() || indices.is_empty() {
        return Ok(());
    }
    let problem = ScatterProblem::new(target, layouts, T::DTYPE)?;
    c.write_with(|to| gpu.run(&problem, &[to, indices.view(), values.view()], &[]))
}
