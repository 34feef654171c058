//! The uniforms of matrix-product shaders: sizes, strides and offsets, in elements (`shaders/gemm/gemm_dims.wgsl`);
//! and the layouts that these describe.

use crate::Result;
use crate::layout::{Layout, dim};
use std::mem::offset_of;

/// The name of matrix products in errors and plans.
pub(in crate::gemm) const OP: &str = "matmul";

/// The uniform of a product whose operands are both stored. In a problem, `alpha` and `beta` are 0: they are scalars of the
/// call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct GemmDims {
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
    /// The bits of an f32, as is `beta`: bits can be compared and hashed.
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
    pub scaled_row: u32,
}

impl GemmDims {
    /// The offset and the strides that add up to the start of a row of C.
    pub(in crate::gemm) fn c_starts(&self) -> [u32; 4] {
        [self.c_offset, self.c_batch0, self.c_batch1, self.ldc]
    }

    /// The number of pairs of a matrix of the batch and a split of k. Each pair has its own workgroups.
    pub(in crate::gemm) fn pairs(&self) -> u64 {
        u64::from(self.batches) * u64::from(self.splits)
    }
}

/// The uniform of a product with a generated operand, or half of one. It has no batch; the seed and the batch strides of the stored
/// operand are in the places of the batch strides of A and B.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct SeededDims {
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
    pub seed_low: u32,
    pub seed_high: u32,
    pub b_outer: u32,
    pub b_k: u32,
    pub b_offset: u32,
    pub stored_batch0: u32,
    pub stored_batch1: u32,
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
    pub scaled_row: u32,
}

// The scalars of the epilogue are at the same offsets in both.
const _: () = assert!(offset_of!(SeededDims, alpha) == offset_of!(GemmDims, alpha));
const _: () = assert!(offset_of!(SeededDims, beta) == offset_of!(GemmDims, beta));

/// The uniform of a product that is summed over segments of k.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct SegmentDims {
    pub m: u32,
    pub n: u32,
    pub k: u32,
    pub k_per_split: u32,
    pub batches: u32,
    pub splits: u32,
    pub segment_step: u32,
    pub segment_length: u32,
    pub a_outer: u32,
    pub a_k: u32,
    pub a_offset: u32,
    pub a_plane: u32,
    pub b_outer: u32,
    pub b_k: u32,
    pub b_offset: u32,
    pub b_plane: u32,
    pub y_outer: u32,
    pub y_k: u32,
    pub y_offset: u32,
    pub y_plane: u32,
    pub gates_outer: u32,
    pub gates_k: u32,
    pub ldc: u32,
    pub reserved: u32,
}

/// The layout with these axes, each given by its extent and stride, that starts at this element. The problem has already
/// proved that it lies within its buffer.
pub(in crate::gemm) fn layout(axes: &[[u32; 2]], offset: u32) -> Result<Layout> {
    let [shape, strides] = [0, 1].map(|i| axes.iter().map(|axis| axis[i] as usize).collect::<Vec<_>>());
    Layout::new(OP, &shape, &strides, offset as usize, usize::MAX)
}

/// The stride of an axis, counted from the last, which has number 1; 0 if the axis is missing or has at most one
/// element.
pub(in crate::gemm) fn stride(layout: &Layout, from_last: usize) -> usize {
    layout.rank().checked_sub(from_last).map_or(0, |axis| layout.step(axis))
}

/// The strides of the two leading axes, which are the batch.
pub(super) fn batch_strides(layout: &Layout) -> Result<[u32; 2]> {
    Ok([dim(OP, stride(layout, 4))?, dim(OP, stride(layout, 3))?])
}
