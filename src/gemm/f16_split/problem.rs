//! The f16 split of an f32 operand, checked: what to compute, as plain data.

use crate::gemm::problem::{MatrixLayout, Side};
use crate::kernel::shader_dims;
use crate::layout::{DType, Layout, Precision, dim, known};
use crate::{Error, Result};

pub(super) const OP: &str = "f16_split";

/// The number of f16 elements that are stored at a time. Rows are padded to a multiple of it.
pub(in crate::gemm) const ROW_MULTIPLE: u32 = 8;

/// The exponent of a row with an infinity or a NaN. No other row has this exponent, and the sum of two of them does not
/// overflow. Products with such a row are infinite or NaN, whatever its scale.
pub const NON_FINITE_EXPONENT: i32 = 1024;

shader_dims! {
    /// The uniform of `shaders/gemm/f16_split.wgsl`.
    pub struct F16SplitDims {
        rows: u32,
        outer: u32,
        k: u32,
        /// extent of the inner batch axis
        batch1: u32,
        batch0_stride: u32,
        batch1_stride: u32,
        outer_stride: u32,
        k_stride: u32,
        /// first element of X in its binding
        x_offset: u32,
        /// of eight f16 in a row of C: `HALF_COUNT` * ld / 8
        units: u32,
        /// start of the high halves in a row of C, in units
        hi: u32,
        /// start of the low halves, if there are any
        lo: u32,
    }
}

/// The f16 split of an f32 operand, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct F16SplitProblem {
    /// The f32 operand (batch, batch, rows, columns), from the start of its aligned window.
    pub(super) x: MatrixLayout,
    /// The number of f16 values per element: 1 (high half) or 2 (high and low half).
    pub(super) half_count: u32,
    /// The operand of the product. A row of the split is a row of A with its high half first, or a column of B with its low
    /// half first. So the product of whole rows is the sum of the cross terms.
    side: Side,
}

impl F16SplitProblem {
    /// The split of the rows of A, or of the columns of B. `x` has at most two batch axes.
    ///
    /// # Errors
    /// [`Error::Shape`] if `x` does not have two to four axes; [`Error::Limit`] if a size, or the number of elements of the
    /// result, is $2^{31}$ or more; [`Error::Input`] for [`Precision::Strict`], which does not split operands.
    pub fn new(x: &Layout, side: Side, precision: Precision) -> Result<Self> {
        let half_count = match precision {
            Precision::Strict => {
                return Err(Error::input(OP, "a strict product does not split its f32 operands"));
            }
            Precision::Fast => 1,
            Precision::Split => 2,
        };
        if !(2..=4).contains(&x.rank()) {
            return Err(Error::shapes(
                OP,
                "the operand must have two to four axes: a matrix after at most two batch axes",
                x.shape(),
                &[2, 4],
            ));
        }
        x.check_dims(OP)?;
        let split = Self { x: MatrixLayout::of(x, DType::F32, 0)?, half_count, side };
        dim(OP, split.shape()[0])?; // of an empty operand, too
        dim(OP, split.shape().iter().fold(1, |elements, extent| elements.saturating_mul(*extent)))?;
        Ok(split)
    }

    /// The outer axis of the operand, m of A or n of B, and the axis k.
    fn axes(&self) -> [usize; 2] {
        if self.side == Side::A { [2, 3] } else { [3, 2] }
    }

    /// Sizes and strides, as the shader receives them.
    pub(super) fn dims(&self) -> F16SplitDims {
        let [outer, k] = self.axes();
        let MatrixLayout { shape, strides, offset } = self.x;
        let half_units = shape[k].div_ceil(ROW_MULTIPLE);
        let is_low_first = self.half_count == 2 && self.side == Side::B;
        let [hi, lo] = if is_low_first { [half_units, 0] } else { [0, half_units] };
        F16SplitDims {
            rows: known(self.shape()[0]),
            outer: shape[outer],
            k: shape[k],
            batch1: shape[1],
            batch0_stride: strides[0],
            batch1_stride: strides[1],
            outer_stride: strides[outer],
            k_stride: strides[k],
            x_offset: offset,
            units: half_units * self.half_count,
            hi,
            lo,
        }
    }

    /// The shape of [`F16Split::values`](super::F16Split::values).
    #[must_use]
    pub fn shape(&self) -> [usize; 2] {
        let ([outer, k], shape) = (self.axes(), self.x.shape.map(|extent| extent as usize));
        let rows = shape[0].saturating_mul(shape[1]).saturating_mul(shape[outer]);
        [rows, shape[k].next_multiple_of(ROW_MULTIPLE as usize) * self.half_count as usize]
    }
}
