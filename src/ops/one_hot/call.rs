//! One-hot rows of tensors.

use super::problem::{OP, OneHotProblem, result_shape};
use crate::Result;
use crate::error::call;
use crate::layout::Element;
use crate::tensor::Tensor;

/// A row of zeros for each id, with a 1 at the id. **An id that is no class**, or a negative one, is no error: its row has zeros
/// only.
///
/// One launch. Ids are integers, so there is no gradient.
///
/// # Shapes
/// `ids` has up to 5 axes and any strides. The result has these axes, and then `classes`: ids of (3, 7) and 10 classes -> (3, 7,
/// 10).
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) if `ids` has 6 axes, or the number of elements overflows;
/// [`Error::Limit`](crate::Error::Limit) if the elements that one launch needs together, such as a row, exceed the
/// device's binding size; [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the result does not fit.
/// # Precision
/// Exact: [`reference::one_hot`](crate::reference::one_hot).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let ids = gpu.tensor(&[2, 0, -1], [3])?;
/// let rows = tilewise::ops::one_hot::<f32>(&ids, 3)?;
/// assert_eq!(rows.to_vec()?, [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
/// # Ok(())
/// # }
/// ```
pub fn one_hot<T: Element>(ids: &Tensor<i32>, classes: usize) -> Result<Tensor<T>> {
    call(OP, || {
        let shape = result_shape(ids.layout(), classes)?;
        if shape.contains(&0) {
            return ids.gpu().empty(shape);
        }
        let problem = OneHotProblem::new(ids.layout(), classes, T::DTYPE)?;
        Tensor::computed(ids.gpu(), &problem, &[ids.view()], &[], shape)
    })
}
