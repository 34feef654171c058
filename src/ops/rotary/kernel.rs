//! The kernel of rotary position embeddings, `shaders/ops/rotary.wgsl`: by elements, and by vectors for aligned rows.

use super::pairs::RotaryPairs;
use super::problem::{RotaryDims, RotaryProblem};
use crate::caps::Caps;
use crate::kernel::{Kernel, OperandAccess, StorageFormat};

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
        let (format, moves) = (StorageFormat::of(self.dtype, caps), self.moves());
        let kernel = moves.read_row(kernel, ["row_of_a", "a"], format);
        let kernel = moves.read_row(kernel, ["row_of_t", "t"], StorageFormat::F32);
        // Each store begins at a multiple of these numbers.
        let halves = match self.of.pairs {
            RotaryPairs::Halves => self.pairs(),
            RotaryPairs::Interleaved => 0,
        };
        moves.store_row(kernel, OperandAccess::write_pairs_or_elements(format, [], [self.width(), halves]))
    }
}
