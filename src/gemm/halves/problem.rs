//! An f32 operand as f16: what to compute, as plain data.

use crate::gemm::layouts::layout;
use crate::layout::Precision;
use crate::layout::{DType, Layout, dim};
use crate::{Error, Result};

pub(super) const OP: &str = "halves";

/// f16 elements that are written at a time; rows are padded to whole ones.
pub(in crate::gemm) const UNIT: u32 = 8;

/// The exponent of a row that has an infinity or a NaN: no row has it otherwise, and two of them can be added. What
/// such a row gives is infinite or NaN, whatever its scale.
pub const NON_FINITE: i32 = 1024;

/// Which operand of a product: its axes are in another order, and so are its two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// A (.., m, k): a row is one of A, its parts high and low.
    A,
    /// B (.., k, n): a row is a column of B, its parts low and high, so that the product of whole rows is that of the
    /// cross terms.
    B,
}

/// The uniform of `shaders/gemm/halves.wgsl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct HalvesDims {
    pub rows: u32,
    pub outer: u32,
    pub k: u32,
    pub batch1: u32,
    pub batch0_stride: u32,
    pub batch1_stride: u32,
    pub outer_stride: u32,
    pub k_stride: u32,
    pub x_offset: u32,
    pub units: u32,
    pub hi: u32,
    pub lo: u32,
}

/// An f32 operand to be scaled and rounded to f16, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HalvesProblem {
    /// The sizes, as the shader has them.
    pub(crate) dims: HalvesDims,
    /// Parts of each entry: 1 or 2.
    pub(super) parts: u32,
    /// Which operand it is.
    side: Side,
}

impl HalvesProblem {
    /// The rows of A, or the columns of B, of this layout: a matrix after at most two batch axes, not empty.
    ///
    /// # Errors
    /// [`Error::Shape`] if it has another number of axes; [`Error::Limit`] if a size or the result has more than
    /// $2^{31}$ elements; [`Error::Input`] for [`Precision::Strict`], which takes f32 as it is.
    pub fn new(x: &Layout, side: Side, precision: Precision) -> Result<Self> {
        let parts = match precision {
            Precision::Strict => return Err(Error::input(OP, "strict products take f32 as it is")),
            Precision::Fast => 1,
            Precision::Split => 2,
        };
        let axis = |axis: usize| {
            let extent = x.shape()[axis];
            Ok([dim(OP, extent)?, if extent > 1 { dim(OP, x.strides()[axis])? } else { 0 }])
        };
        if !(2..=4).contains(&x.rank()) {
            return Err(Error::shapes(OP, "a matrix and at most two batch axes", x.shape(), &[2, 4]));
        }
        let batches = x.rank() - 2;
        let [outer, k] = match side {
            Side::A => [axis(batches)?, axis(batches + 1)?],
            Side::B => [axis(batches + 1)?, axis(batches)?],
        };
        let batch0 = if batches == 2 { axis(0)? } else { [1, 0] };
        let batch1 = if batches > 0 { axis(batches - 1)? } else { [1, 0] };
        let of_part = k[0].div_ceil(UNIT);
        let rows = [batch0, batch1, outer].iter().fold(1usize, |n, axis| n.saturating_mul(axis[0] as usize));
        let elements = rows.saturating_mul(of_part as usize * (UNIT * parts) as usize);
        dim(OP, elements)?;
        let [hi, lo] = if parts == 2 && side == Side::B { [of_part, 0] } else { [0, of_part] };
        let dims = HalvesDims {
            rows: dim(OP, rows)?,
            outer: outer[0],
            k: k[0],
            batch1: batch1[0],
            batch0_stride: batch0[1],
            batch1_stride: batch1[1],
            outer_stride: outer[1],
            k_stride: k[1],
            x_offset: x.offset_in_window(DType::F32),
            units: of_part * parts,
            hi,
            lo,
        };
        Ok(Self { dims, parts, side })
    }

    /// The shape of [`Halves::values`](super::Halves::values).
    #[must_use]
    pub fn shape(&self) -> [usize; 2] {
        [self.dims.rows as usize, self.dims.units as usize * UNIT as usize]
    }

    /// Where the operand's elements lie.
    pub(super) fn layout(&self) -> Result<Layout> {
        let d = &self.dims;
        let batch0 = d.rows / (d.outer * d.batch1).max(1);
        let matrix = [[d.outer, d.outer_stride], [d.k, d.k_stride]];
        let [first, second] = if self.side == Side::A { matrix } else { [matrix[1], matrix[0]] };
        layout(&[[batch0, d.batch0_stride], [d.batch1, d.batch1_stride], first, second], d.x_offset)
    }
}
