//! Strides of operands, as problems store them, and the layouts that they describe.

use crate::Result;
use crate::layout::{Layout, dim};

/// The name of matrix products in errors and plans.
pub(in crate::gemm) const OP: &str = "matmul";

/// The layout with these axes, each given by its extent and stride, that starts at this element. The problem has already
/// proved that it lies within its buffer.
pub(in crate::gemm) fn layout(axes: &[[u32; 2]], offset: u32) -> Result<Layout> {
    let [shape, strides] = [0, 1].map(|i| axes.iter().map(|axis| axis[i] as usize).collect::<Vec<_>>());
    Layout::new(OP, &shape, &strides, offset as usize, usize::MAX)
}

/// The stride of the axis counted from the last, which is 1; 0 if the axis is missing or has at most one element.
pub(in crate::gemm) fn stride(layout: &Layout, from_last: usize) -> usize {
    match layout.rank().checked_sub(from_last) {
        Some(axis) if layout.shape()[axis] > 1 => layout.strides()[axis],
        _ => 0,
    }
}

/// The strides of the two leading axes, which are the batch.
pub(super) fn batch_strides(layout: &Layout) -> Result<[u32; 2]> {
    Ok([dim(OP, stride(layout, 4))?, dim(OP, stride(layout, 3))?])
}
