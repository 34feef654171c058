//! The kernels that take elements by index: `shaders/ops/gather.wgsl`, and `gather_vectors.wgsl` for rows of whole vectors;
//! `gather_more.wgsl` for further windows of A.

use super::problem::{GatherDims, GatherProblem};
use crate::caps::Caps;
use crate::kernel::Kernel;
use crate::ops::packing::{per_word, quad_unit, quad_variant};
use crate::ops::vectors::{Moves, neighbouring_vectors};

/// Invocations per workgroup.
pub(super) const LANES: u32 = 64;

impl GatherProblem {
    /// The kernel with the parameters of the type.
    pub(super) fn kernel(&self, caps: &Caps) -> Kernel {
        let kernel = |shader| Kernel::new(shader).dims::<GatherDims>(caps).param("LANES", LANES);
        match self.moves {
            Moves::Vectors => kernel("ops/gather_vectors").param("VECTORS", self.vectors(caps)),
            Moves::Elements => kernel("ops/gather")
                .param("c_unit", quad_unit(self.dtype))
                .param("PER_WORD", per_word(self.dtype))
                .param("WHOLE", self.dims.rank == 1 || self.dims.axes[0][0].is_multiple_of(4))
                .slot("save_bits_c", quad_variant(self.dtype)),
        }
    }

    /// The kernel for a further window of A; it takes element by element.
    pub(super) fn kernel_of_more(&self, caps: &Caps) -> Kernel {
        Kernel::new("ops/gather_more")
            .dims::<GatherDims>(caps)
            .param("LANES", LANES)
            .param("c_unit", quad_unit(self.dtype))
            .param("PER_WORD", per_word(self.dtype))
            .slot("save_bits_c", quad_variant(self.dtype))
            .slot("quad_bits_c", quad_variant(self.dtype))
    }

    /// The number of neighbouring vectors of an invocation, if it moves vectors.
    fn vectors(&self, caps: &Caps) -> u32 {
        let many = neighbouring_vectors(caps);
        if self.dims.axes[0][0].is_multiple_of(many) { many } else { 1 }
    }

    /// The number of invocations.
    pub(super) fn units(&self, caps: &Caps) -> u32 {
        match self.moves {
            Moves::Vectors => self.dims.count / self.vectors(caps),
            Moves::Elements => self.dims.count.div_ceil(4),
        }
    }

    /// The unit that an invocation moves, in words, for plans.
    pub(super) fn tile(&self, caps: &Caps) -> String {
        let moved = match self.moves {
            Moves::Vectors => format!("{} bytes each", 16 * self.vectors(caps)),
            Moves::Elements => "four elements each".to_owned(),
        };
        format!("{LANES} invocations, {moved}, {}", self.dtype)
    }
}
