//! The uniforms of matrix-product shaders: sizes, strides and offsets, in elements (`shaders/gemm/gemm_dims.wgsl`);
//! and the layouts that these describe.

use crate::Result;
use crate::kernel::shader_dims;
use crate::layout::{Layout, dim};

/// The name of matrix products in errors and plans.
pub(in crate::gemm) const OP: &str = "matmul";

/// Declares the uniform of a product: the members of all, four in the places of batch strides, and those at the end.
macro_rules! product_dims {
    ($(#[$attribute:meta])* $name:ident { $($of_a:tt)* } { $($of_b:tt)* } { $($end:tt)* }) => {
        shader_dims! {
            $(#[$attribute])*
            pub struct $name {
                m: u32,
                n: u32,
                k: u32,
                /// length of a split of k: k, or a multiple of 32
                k_per_split: u32,
                /// matrices of the batch
                batches: u32,
                /// extent of its axis 1
                batch1: u32,
                /// splits of k, each summed into a matrix of its own
                splits: u32,
                /// stride of A along m
                a_outer: u32,
                /// stride of A along k
                a_k: u32,
                /// first element of A in its binding
                a_offset: u32,
                $($of_a)*
                /// stride of B along n
                b_outer: u32,
                /// stride of B along k
                b_k: u32,
                b_offset: u32,
                $($of_b)*
                /// stride of C along m; along n it is 1
                ldc: u32,
                c_offset: u32,
                c_batch0: u32,
                c_batch1: u32,
                alpha: u32 as f32,
                beta: u32 as f32,
                /// strides of the bias along m and n
                bias_row: u32,
                bias_col: u32,
                bias_offset: u32,
                residual_row: u32,
                residual_col: u32,
                residual_offset: u32,
                residual_batch0: u32,
                residual_batch1: u32,
                $($end)*
            }
        }
    };
}

product_dims! {
    /// The uniform of a product whose operands are both stored. In a problem, `alpha` and `beta` are 0: they are scalars of the
    /// call.
    GemmDims
    { a_batch0: u32, a_batch1: u32, }
    { b_batch0: u32, b_batch1: u32, }
    {
        /// length of a row of A and of a column of B, if they are scaled
        scaled_row: u32,
    }
}

product_dims! {
    /// The uniform of a product whose rows or columns of sums have scales, or whose result is i8.
    QuantisedDims
    { a_batch0: u32, a_batch1: u32, }
    { b_batch0: u32, b_batch1: u32, }
    {
        /// the bits of an f32: the divisor of results of i8
        out_scale: u32,
        /// strides of the scales of rows and columns
        row_scale_step: u32,
        row_scale_offset: u32,
        column_scale_step: u32,
        column_scale_offset: u32,
    }
}

product_dims! {
    /// The uniform of a product with a generated operand, or half of one. It has no batch.
    SeededDims
    {
        /// the words of the seed, or their places in the tensor that holds it
        seed_low: u32,
        seed_high: u32,
    }
    {
        /// of the stored operand
        stored_batch0: u32,
        stored_batch1: u32,
    }
    {
        /// length of a row of A and of a column of B, if they are scaled
        scaled_row: u32,
    }
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

shader_dims! {
    /// The uniform of a product that is summed over segments of k.
    pub struct SegmentDims {
        m: u32,
        n: u32,
        /// of the matrix with the most segments, including padding
        k: u32,
        /// length of a split of k: k, or a multiple of 32
        k_per_split: u32,
        /// matrices
        batches: u32,
        /// splits of k, each summed into a matrix of its own
        splits: u32,
        /// distance between segments along k: a multiple of 32
        segment_step: u32,
        /// length of a segment along k, without padding
        segment_length: u32,
        a_outer: u32,
        a_k: u32,
        /// first element of the first plane in its binding
        a_offset: u32,
        /// stride of planes
        a_plane: u32,
        b_outer: u32,
        b_k: u32,
        b_offset: u32,
        b_plane: u32,
        /// of the right factor of A's planes, if they are products
        y_outer: u32,
        y_k: u32,
        y_offset: u32,
        y_plane: u32,
        /// of the plane of gates that multiplies these products, if there is one
        gates_outer: u32,
        gates_k: u32,
        /// stride of C along m; along n it is 1
        ldc: u32,
        reserved: u32,
    }
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
