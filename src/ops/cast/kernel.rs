//! The kernels of copies and casts: `shaders/ops/cast.wgsl`, and `shaders/ops/cast_vectors.wgsl` for contiguous views.

use super::problem::{CastDims, CastProblem};
use crate::caps::Caps;
use crate::kernel::Kernel;
use crate::layout::{DType, Overflow};
use crate::ops::packing::{constant, per_word, quad_unit, quad_variant};
use crate::ops::vectors::Moves;

/// Invocations per workgroup.
pub(super) const LANES: u32 = 64;

impl CastProblem {
    /// The kernel with the parameters of the two types.
    pub(super) fn kernel(&self, caps: &Caps) -> Kernel {
        let moves = self.moves();
        let kernel = Kernel::new(match moves {
            Moves::Elements => "ops/cast",
            Moves::Vectors => "ops/cast_vectors",
        });
        let kernel = kernel
            .dims::<CastDims>(caps)
            .param("A_PER_WORD", per_word(self.from))
            .param("C_PER_WORD", per_word(self.to))
            .param("LANES", LANES);
        let kernel = match moves {
            Moves::Elements => kernel,
            Moves::Vectors => kernel
                .param("a_unit", quad_unit(self.from))
                .param("c_unit", quad_unit(self.to))
                .param("QUADS", self.quads())
                .param("VECTORS", self.groups_per_invocation())
                .slot("quad_bits_a", quad_variant(self.from))
                .slot("save_bits_c", quad_variant(self.to)),
        };
        // A copy keeps the bits of every element, also those of NaN.
        if !changes(self.from, self.to, self.overflow) {
            return kernel;
        }
        let is_limited = match (self.to, self.overflow) {
            (DType::I32, _) => false,
            (_, Overflow::Saturate) => true,
            (DType::I8, Overflow::Rust) => self.from.is_float(),
            (_, Overflow::Rust) => false,
        };
        kernel
            .param("KEPT", false)
            .param("FROM", constant(self.from))
            .param("TO", constant(self.to))
            .param("LIMITED", is_limited)
    }
}

/// Whether an element may change its value or bits. NOTE: saturation changes infinities even if the type is the same.
fn changes(from: DType, to: DType, overflow: Overflow) -> bool {
    from != to || (overflow == Overflow::Saturate && to.is_float())
}
