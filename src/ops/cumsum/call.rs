//! Cumulative sums of tensors.

use super::problem::{CumsumProblem, OP, check_axis};
use crate::Result;
use crate::error::call;
use crate::layout::Real;
use crate::tensor::Tensor;

/// Cumulative sums along an axis: element $i$ of a row of the result is $\sum_{j \le i} a_{j}$.
///
/// One launch if the rows are short or many. A few long rows are cut into parts, which takes three launches.
///
/// # Shapes
/// Any view of 1 to 6 axes, with rows of any length. The result has the shape of `a`.
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) if `a` has no such axis; [`Error::Limit`](crate::Error::Limit) and
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory) as [`sum`](crate::ops::sum).
/// # Precision
/// Summed in f32, in an order that depends only on the layout and the device, then stored:
/// [`reference::cumsum`](crate::reference::cumsum). A sum is not computed from stored sums, so each sum of f16 or bf16 has only
/// its own rounding error. A NaN or an infinity reaches all later sums of its row.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let a = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
/// assert_eq!(tilewise::ops::cumsum(&a, 1)?.to_vec()?, [1.0, 3.0, 6.0, 4.0, 9.0, 15.0]);
/// assert_eq!(tilewise::ops::cumsum(&a, 0)?.to_vec()?, [1.0, 2.0, 3.0, 5.0, 7.0, 9.0]);
/// # Ok(())
/// # }
/// ```
pub fn cumsum<T: Real>(a: &Tensor<T>, axis: usize) -> Result<Tensor<T>> {
    call(OP, || {
        check_axis(a.layout(), axis)?;
        if a.is_empty() {
            return a.gpu().empty(a.shape());
        }
        let problem = CumsumProblem::new(a.layout(), axis, T::DTYPE)?;
        Tensor::computed(a.gpu(), &problem, &[a.view()], &[], a.shape())
    })
}
