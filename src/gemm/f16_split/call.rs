//! Tensors as split halves.

use super::problem::F16SplitProblem;
use crate::Result;
use crate::error::call;
use crate::gemm::problem::Side;
use crate::layout::Precision;
use crate::tensor::Tensor;
use half::f16;

/// An operand as f16, and the exponents that undo its scaling.
#[derive(Clone, Debug)]
pub struct F16Split {
    /// One row for each row of A, or for each column of B, of each matrix of the batch. A row has one or two parts of `ld`
    /// elements, where `ld` is k rounded up to a multiple of 8; the padding is zero. For [`Precision::Split`], columns `..ld`
    /// and `ld..` are the high and low halves of A, or the low and high halves of B.
    pub values: Tensor<f16>,
    /// One exponent e for each row: the stored elements are the operand's times $2^{e}$. [`NON_FINITE_EXPONENT`](super::problem::NON_FINITE_EXPONENT) for a row
    /// with an infinity or a NaN.
    pub exponents: Tensor<i32>,
}

/// The f16 split of an operand of a [`Precision::Fast`] or [`Precision::Split`] product, in one launch.
///
/// # Shapes
/// A (.., m, k) or B (.., k, n), of any strides and at most two batch axes -> rows as in [`F16Split`], one matrix of the batch
/// after another.
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) for another number of axes; [`Error::Limit`](crate::Error::Limit) or
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the result is too large; [`Error::Input`](crate::Error::Input) for
/// [`Precision::Strict`].
/// # Precision
/// Bit-exact with [`reference::f16_split`](crate::reference::f16_split) on every device.
pub fn f16_split(x: &Tensor<f32>, side: Side, precision: Precision) -> Result<F16Split> {
    call("f16_split", || {
        let problem = F16SplitProblem::new(x.layout(), side, precision)?;
        let (gpu, rows) = (x.gpu(), problem.shape()[0]);
        if x.is_empty() {
            return Ok(F16Split { values: gpu.empty(problem.shape())?, exponents: gpu.zeros([rows])? });
        }
        let [values, exponents] = gpu.compute(&problem, &[x.view()], &[])?;
        let values = Tensor::from_output(values, problem.shape())?;
        Ok(F16Split { values, exponents: Tensor::from_output(exponents, [rows])? })
    })
}
