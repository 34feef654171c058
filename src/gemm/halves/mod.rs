//! f32 operands as f16: each row of A and column of B scaled by a power of two, in one part or two.

mod kernel;
mod plan;
mod problem;

pub(super) use problem::UNIT;
pub use problem::{HalvesDims, HalvesProblem, NON_FINITE, Side};

use crate::Result;
use crate::error::call;
use crate::layout::Precision;
use crate::tensor::Tensor;
use half::f16;

/// An operand as f16, and the exponents that undo its scaling.
#[derive(Clone, Debug)]
pub struct Halves {
    /// Rows of `parts * ld` elements, with ld = k rounded up to a multiple of 8 by zeros: m rows of A, or n columns of
    /// B, for each batch. For [`Precision::Split`] columns `..ld` and `ld..` are the high and the low part of A, the
    /// low and the high part of B.
    pub values: Tensor<f16>,
    /// One e a row: its elements are the operand's times $2^{e}$; [`NON_FINITE`] for a row that has an infinity or a
    /// NaN.
    pub exponents: Tensor<i32>,
}

/// An operand of a [`Precision::Fast`] or [`Precision::Split`] product as f16, one launch.
///
/// # Shapes
/// A (.., m, k) or B (.., k, n), any strides, at most two batch axes -> rows as [`Halves`] has them, those of all
/// batches one after another.
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) for another number of axes; [`Error::Limit`](crate::Error::Limit),
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory) without room; [`Error::Input`](crate::Error::Input) for [`Precision::Strict`].
/// # Precision
/// Bit for bit [`reference::halves`](crate::reference::halves), on every device.
pub fn halves(x: &Tensor<f32>, side: Side, precision: Precision) -> Result<Halves> {
    call("halves", || {
        let problem = HalvesProblem::new(x.layout(), side, precision)?;
        let (gpu, rows) = (x.gpu(), problem.dims.rows as usize);
        if x.is_empty() {
            return Ok(Halves { values: gpu.empty(problem.shape())?, exponents: gpu.zeros([rows])? });
        }
        let [values, exponents] = gpu.make(&problem, &[x.view()], &[])?;
        let values = Tensor::made(values, problem.shape())?;
        Ok(Halves { values, exponents: Tensor::made(exponents, [rows])? })
    })
}
