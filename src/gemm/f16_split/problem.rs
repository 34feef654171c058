//! The f16 split of an f32 operand, checked: what to compute, as plain data.

use crate::gemm::problem::{Side, layout};
use crate::kernel::shader_dims;
use crate::layout::{DType, Layout, Precision, dim};
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
    /// Sizes and strides, as the shader receives them.
    pub(crate) dims: F16SplitDims,
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
        let axis = |axis: usize| Ok([dim(OP, x.shape()[axis])?, dim(OP, x.step(axis))?]);
        if !(2..=4).contains(&x.rank()) {
            return Err(Error::shapes(
                OP,
                "the operand must have two to four axes: a matrix after at most two batch axes",
                x.shape(),
                &[2, 4],
            ));
        }
        let batches = x.rank() - 2;
        let [outer, k] = match side {
            Side::A => [axis(batches)?, axis(batches + 1)?],
            Side::B => [axis(batches + 1)?, axis(batches)?],
        };
        let batch0 = if batches == 2 { axis(0)? } else { [1, 0] };
        let batch1 = if batches > 0 { axis(batches - 1)? } else { [1, 0] };
        let half_units = k[0].div_ceil(ROW_MULTIPLE);
        let rows = [batch0, batch1, outer].iter().fold(1usize, |n, axis| n.saturating_mul(axis[0] as usize));
        let elements = rows.saturating_mul(half_units as usize * (ROW_MULTIPLE * half_count) as usize);
        dim(OP, elements)?;
        let [hi, lo] = if half_count == 2 && side == Side::B { [half_units, 0] } else { [0, half_units] };
        let dims = F16SplitDims {
            rows: dim(OP, rows)?,
            outer: outer[0],
            k: k[0],
            batch1: batch1[0],
            batch0_stride: batch0[1],
            batch1_stride: batch1[1],
            outer_stride: outer[1],
            k_stride: k[1],
            x_offset: x.offset_in_window(DType::F32),
            units: half_units * half_count,
            hi,
            lo,
        };
        Ok(Self { dims, half_count, side })
    }

    /// The shape of [`F16Split::values`](super::F16Split::values).
    #[must_use]
    pub fn shape(&self) -> [usize; 2] {
        [self.dims.rows as usize, self.dims.units as usize * ROW_MULTIPLE as usize]
    }

    /// The layout of the f32 operand.
    pub(super) fn layout(&self) -> Result<Layout> {
        let d = &self.dims;
        let batch0 = d.rows / (d.outer * d.batch1).max(1);
        let matrix = [[d.outer, d.outer_stride], [d.k, d.k_stride]];
        let [first, second] = if self.side == Side::A { matrix } else { [matrix[1], matrix[0]] };
        layout(&[[batch0, d.batch0_stride], [d.batch1, d.batch1_stride], first, second], d.x_offset)
    }
}
