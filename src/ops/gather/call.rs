//! Positions, elements and rows by index.

use super::indices::Indices;
use super::problem::{GatherProblem, Taken};
use crate::Result;
use crate::error::call;
use crate::layout::Element;
use crate::tensor::Tensor;

/// Takes the positions along `axis` that the indices name, in their order, to a new tensor.
///
/// One launch, which reads an index for each element that it writes, or for each 16 bytes. If the host knows the indices,
/// they may be given as `&[2, 0, 1]`; they are uploaded. **An index out of range**, or a negative one, is an error if the
/// host knows it. In a tensor it is no error: the position becomes NaN, or 0 for integers, and nothing outside `x` is
/// read.
///
/// The gradient of `x` is [`index_add`](crate::ops::index_add) to zeros of its shape.
///
/// # Shapes
/// `x` has up to 6 axes and any strides. The indices have one axis, and any stride. The result has the shape of `x`, but
/// its extent along the axis is the number of indices: 3 indices along axis 1 of (2, 100, 64) -> (2, 3, 64).
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) if there is no such axis, the indices have more or fewer axes than one, or the axis is
/// empty, but there are indices; [`Error::Input`](crate::Error::Input) if the host knows that one is out of range;
/// [`Error::Gpu`](crate::Error::Gpu) if the tensors are on different devices; [`Error::Limit`](crate::Error::Limit) if the
/// elements that one launch needs together, such as a row, exceed the device's binding size;
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the result does not fit.
/// # Precision
/// Every bit is copied: [`reference::index_select`](crate::reference::index_select).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::ops;
///
/// let x = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
/// assert_eq!(ops::index_select(&x, 1, &[2, 0])?.to_vec()?, [3.0, 1.0, 6.0, 4.0]);
///
/// let rows = gpu.tensor(&[1, 7], [2])?; // 7 is no row
/// let found = ops::index_select(&x, 0, &rows)?.to_vec()?;
/// assert!(found[..3] == [4.0, 5.0, 6.0] && found[3..].iter().all(|x| x.is_nan()));
/// # Ok(())
/// # }
/// ```
pub fn index_select<'a, T: Element>(
    x: &Tensor<T>,
    axis: usize,
    indices: impl Into<Indices<'a>>,
) -> Result<Tensor<T>> {
    let taken = Taken::Positions(axis);
    call("index_select", || {
        // If there is no such axis, `take` returns the error.
        let extent = x.shape().get(axis).copied().unwrap_or(usize::MAX);
        take(taken, x, &*indices.into().on("index_select", x.gpu(), extent)?)
    })
}

/// Takes one element for each index. Along `axis` its position is the value of the index; along other axes it is the
/// place of the index in `indices`. `PyTorch` calls this `gather`, `NumPy` `take_along_axis`.
///
/// One launch, which reads one index for each element. **An index out of range**, or a negative one, is no error: its
/// element becomes NaN, or 0 for integers, and nothing outside `x` is read.
///
/// The gradient of `x` is [`scatter_add`](crate::ops::scatter_add) to zeros of its shape.
///
/// # Shapes
/// `x` and `indices` have the same number of axes, up to 6, and any strides. Along other axes than `axis`, the indices may
/// be shorter. The result has their shape: $c_{ij} = x_{i k}$ with $k =$ `indices[i, j]` along axis 1.
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) if there is no such axis, the numbers of axes differ, the indices are longer along
/// another axis, or the axis is empty, but there are indices; otherwise as [`index_select`].
/// # Precision
/// Every bit is copied: [`reference::gather`](crate::reference::gather).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// // The score of each row's own label.
/// let scores = gpu.tensor(&[0.1f32, 0.9, 0.8, 0.2], [2, 2])?;
/// let labels = gpu.tensor(&[1, 0], [2, 1])?;
/// assert_eq!(tilewise::ops::gather(&scores, 1, &labels)?.to_vec()?, [0.9, 0.8]);
/// # Ok(())
/// # }
/// ```
pub fn gather<T: Element>(x: &Tensor<T>, axis: usize, indices: &Tensor<i32>) -> Result<Tensor<T>> {
    call("gather", || take(Taken::Elements(axis), x, indices))
}

/// Looks up rows of a table: row `ids[i]` of the table becomes row `i` of the result.
///
/// One launch, which reads an id for each 16 bytes that it writes, if rows are whole units of 16 bytes, otherwise for each
/// element. **An id out of range**, or a negative one, is no error: its row becomes NaN, or 0 for integers, and nothing
/// outside the table is read.
///
/// The gradient of the table is [`embedding_backward`](crate::ops::embedding_backward).
///
/// # Shapes
/// `table` is (rows, d), with any strides. `ids` has up to 5 axes and any strides. The result has the axes of `ids`, and
/// then d: ids of (3, 7) and a table of (50, 16) -> (3, 7, 16).
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) if the table has more or fewer axes than two, `ids` has 6, or the table has no rows,
/// but there are ids; otherwise as [`index_select`].
/// # Precision
/// Every bit is copied: [`reference::embedding`](crate::reference::embedding).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let table = gpu.tensor(&[0.0f32, 0.1, 1.0, 1.1, 2.0, 2.1], [3, 2])?;
/// let ids = gpu.tensor(&[2, 0], [2])?;
/// assert_eq!(tilewise::ops::embedding(&table, &ids)?.to_vec()?, [2.0, 2.1, 0.0, 0.1]);
/// # Ok(())
/// # }
/// ```
pub fn embedding<T: Element>(table: &Tensor<T>, ids: &Tensor<i32>) -> Result<Tensor<T>> {
    call("embedding", || take(Taken::Rows, table, ids))
}

/// The elements that the indices take, in a new tensor.
fn take<T: Element>(taken: Taken, x: &Tensor<T>, indices: &Tensor<i32>) -> Result<Tensor<T>> {
    let gpu = x.same_gpu(taken.op(), indices)?;
    let shape = taken.shape(x.layout(), indices.layout())?;
    if shape.contains(&0) {
        return gpu.empty(shape);
    }
    let problem = GatherProblem::new(taken, x.layout(), indices.layout(), T::DTYPE)?;
    Tensor::computed(gpu, &problem, &[x.view(), indices.view()], &[], shape)
}
