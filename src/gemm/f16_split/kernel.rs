//! The kernel of f16 splits, `shaders/gemm/f16_split.wgsl`.
//!
//! Several invocations share a row: first they find its largest magnitude, which determines the scale, then they round its
//! elements.

use super::problem::{F16SplitDims, F16SplitProblem};
use crate::caps::Caps;
use crate::kernel::{self, Kernel};

impl F16SplitProblem {
    /// Rows and invocations per workgroup. If consecutive rows are neighbours in memory and the elements of a row are not,
    /// the workgroup reads several rows at a time.
    pub(super) fn tile(&self, caps: &Caps) -> [u32; 2] {
        let F16SplitDims { outer, outer_stride, k_stride, .. } = self.dims();
        let across = outer > 1 && outer_stride < k_stride;
        let (rows, usual) = if across { (16, 256) } else { (1, 64) };
        let mut lanes = kernel::workgroup_size(usual, caps);
        while lanes > 4 && 4 * lanes > caps.limits.workgroup_bytes {
            lanes /= 2;
        }
        [rows.min(lanes), lanes]
    }

    /// The shader for this tile.
    pub(super) fn kernel(&self, [rows, lanes]: [u32; 2], caps: &Caps) -> Kernel {
        Kernel::new("gemm/f16_split")
            .dims::<F16SplitDims>(caps)
            .param("HALF_COUNT", format!("{}u", self.half_count))
            .param("ROWS", format!("{rows}u"))
            .param("LANES", format!("{lanes}u"))
    }
}
