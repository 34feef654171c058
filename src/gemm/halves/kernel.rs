//! The kernel of halves, `shaders/gemm/halves.wgsl`: how many rows a workgroup reads at a time, and with how many invocations.

use super::problem::{HalvesDims, HalvesProblem};
use crate::caps::Caps;
use crate::kernel::{self, Kernel};

impl HalvesProblem {
    /// Rows and invocations of a workgroup. Where rows are neighbours in memory and their elements are not, several
    /// rows are read at a time.
    pub(super) fn tile(&self, caps: &Caps) -> [u32; 2] {
        let across = self.dims.outer > 1 && self.dims.outer_stride < self.dims.k_stride;
        let (rows, usual) = if across { (16, 256) } else { (1, 64) };
        let mut lanes = kernel::lanes(usual, caps);
        while lanes > 4 && 4 * lanes > caps.limits.workgroup_bytes {
            lanes /= 2;
        }
        [rows.min(lanes), lanes]
    }

    /// What runs in each workgroup of such a tile.
    pub(super) fn kernel(&self, [rows, lanes]: [u32; 2], caps: &Caps) -> Kernel {
        Kernel::new("gemm/halves")
            .dims(caps, size_of::<HalvesDims>())
            .param("PARTS", format!("{}u", self.parts))
            .param("ROWS", format!("{rows}u"))
            .param("LANES", format!("{lanes}u"))
    }
}
