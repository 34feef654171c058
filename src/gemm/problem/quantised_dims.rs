//! Where the scales of rows and columns lie, of products of types of 8 bits.

use super::dims::{GemmDims, QuantisedDims};
use super::epilogue::BiasAxis;

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
