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
    /// The kernel that moves elements so, with the parameters of the type.
    pub(super) fn kernel(&self, (d, moves): &(GatherDims, Moves), caps: &Caps) -> Kernel {
        let kernel = |shader| Kernel::new(shader).dims::<GatherDims>(caps).param("LANES", LANES);
        let of_elements = |shader| {
            kernel(shader)
                .param("c_unit", quad_unit(self.dtype))
                .param("PER_WORD", per_word(self.dtype))
                .slot("save_bits_c", quad_variant(self.dtype))
        };
        match moves {
            Moves::Vectors => kernel("ops/gather_vectors").param("VECTORS", vectors(d, caps)),
            Moves::Elements if self.start > 0 => {
                of_elements("ops/gather_more").slot("quad_bits_c", quad_variant(self.dtype))
            }
            Moves::Elements => {
                of_elements("ops/gather").param("WHOLE", d.rank == 1 || d.axes[0][0].is_multiple_of(4))
            }
        }
    }

    /// The unit that an invocation moves, in words, for plans.
    pub(super) fn tile(&self, (d, moves): &(GatherDims, Moves), caps: &Caps) -> String {
        let moved = match moves {
            Moves::Vectors => format!("{} bytes each", 16 * vectors(d, caps)),
            Moves::Elements => "four elements each".to_owned(),
        };
        format!("{LANES} invocations, {moved}, {}", self.dtype)
    }
}

/// The number of neighbouring vectors of an invocation that moves vectors.
fn vectors(d: &GatherDims, caps: &Caps) -> u32 {
    let many = neighbouring_vectors(caps);
    if d.axes[0][0].is_multiple_of(many) { many } else { 1 }
}

/// The number of invocations.
pub(super) fn units((d, moves): &(GatherDims, Moves), caps: &Caps) -> u32 {
    match moves {
        Moves::Vectors => d.count / vectors(d, caps),
        Moves::Elements => d.count.div_ceil(4),
    }
}
