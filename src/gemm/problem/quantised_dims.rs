//! The uniform of products of types of 8 bits, and where the scales of rows and columns lie.

use super::dims::GemmDims;
use super::epilogue::BiasAxis;

/// The uniform of a product whose rows or columns of sums have scales, or whose result is i8. All fields of [`GemmDims`] but the
/// last are at the same offsets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct QuantisedDims {
    pub m: u32,
    pub n: u32,
    pub k: u32,
    pub k_per_split: u32,
    pub batches: u32,
    pub batch1: u32,
    pub splits: u32,
    pub a_outer: u32,
    pub a_k: u32,
    pub a_offset: u32,
    pub a_batch0: u32,
    pub a_batch1: u32,
    pub b_outer: u32,
    pub b_k: u32,
    pub b_offset: u32,
    pub b_batch0: u32,
    pub b_batch1: u32,
    pub ldc: u32,
    pub c_offset: u32,
    pub c_batch0: u32,
    pub c_batch1: u32,
    pub alpha: u32,
    pub beta: u32,
    pub bias_row: u32,
    pub bias_col: u32,
    pub bias_offset: u32,
    pub residual_row: u32,
    pub residual_col: u32,
    pub residual_offset: u32,
    pub residual_batch0: u32,
    pub residual_batch1: u32,
    /// The bits of an f32.
    pub out_scale: u32,
    pub row_scale_step: u32,
    pub row_scale_offset: u32,
    pub column_scale_step: u32,
    pub column_scale_offset: u32,
}

/// The stride and the offset of the scales of rows, and of columns, in elements. 0 without that scale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct LinePlaces {
    pub(super) rows: [u32; 2],
    pub(super) columns: [u32; 2],
}

impl LinePlaces {
    pub(super) fn at(&mut self, axis: BiasAxis) -> &mut [u32; 2] {
        match axis {
            BiasAxis::Rows => &mut self.rows,
            BiasAxis::Columns => &mut self.columns,
        }
    }

    /// The uniform with these dims.
    pub(in crate::gemm) fn dims(&self, dims: &GemmDims) -> QuantisedDims {
        let mut uniform = QuantisedDims::default();
        let (shared, _) = bytemuck::bytes_of_mut(&mut uniform).split_at_mut(size_of::<GemmDims>());
        shared.copy_from_slice(bytemuck::bytes_of(dims));
        let ([row_scale_step, row_scale_offset], [column_scale_step, column_scale_offset]) =
            (self.rows, self.columns);
        QuantisedDims {
            out_scale: 1f32.to_bits(),
            row_scale_step,
            row_scale_offset,
            column_scale_step,
            column_scale_offset,
            ..uniform
        }
    }
}
