//! The kernel of rotary position embeddings, `shaders/ops/rotary.wgsl`: by elements, and by vectors for aligned rows.

use super::pairs::RotaryPairs;
use super::problem::{RotaryDims, RotaryProblem};
use crate::caps::Caps;
use crate::kernel::{AccessWidth, Kernel, OperandAccess, StorageFormat};
use crate::ops::vectors::Moves;

/// Invocations per workgroup.
pub(super) const LANES: u32 = 64;

impl RotaryProblem {
    /// The kernel on a device.
    pub(super) fn kernel(&self, caps: &Caps) -> Kernel {
        let kernel = Kernel::new("ops/rotary")
            .dims::<RotaryDims>(caps)
            .param("QUADS", self.quads())
            .param("LANES", LANES);
        let kernel = match self.of.pairs {
            RotaryPairs::Halves => kernel,
            RotaryPairs::Interleaved => kernel.slot("rotary_pairs", "interleaved"),
        };
        let kernel = if self.at.is_some() { kernel.slot("rotary_start", "position") } else { kernel };
        let format = StorageFormat::of(self.dtype, caps);
        if self.moves() == Moves::Vectors {
            let width = AccessWidth::Four;
            return kernel
                .slot("row_of_a", "vectors")
                .slot("row_of_t", "vectors")
                .slot("row_store", "vectors")
                .quads("a", OperandAccess::read(format, width))
                .quads("t", OperandAccess::read(StorageFormat::F32, width))
                .quads("c", OperandAccess::write(format, width));
        }
        let kernel = kernel
            .operand("a", OperandAccess::read(format, AccessWidth::One))
            .operand("t", OperandAccess::read(StorageFormat::F32, AccessWidth::One));
        if format.elements_per_scalar() == 2 && self.stores_pairs() {
            return kernel.result(OperandAccess::write(format, AccessWidth::Two)).slot("store_quad", "pairs");
        }
        kernel.result(OperandAccess::write(format, AccessWidth::One))
    }
}
