//! The kernel of copies and casts, `shaders/ops/cast.wgsl`.

use super::problem::{CastDims, CastProblem};
use crate::caps::Caps;
use crate::kernel::Kernel;
use crate::layout::{DType, Overflow};
use crate::ops::packing::{constant, per_word};

/// Invocations per workgroup.
pub(super) const LANES: u32 = 64;

impl CastProblem {
    /// The kernel with the parameters of the two types.
    pub(super) fn kernel(&self, caps: &Caps) -> Kernel {
        let kernel = Kernel::new("ops/cast")
            .dims(caps, size_of::<CastDims>())
            .param("A_PER_WORD", per_word(self.from))
            .param("C_PER_WORD", per_word(self.to))
            .param("LANES", LANES);
        // A copy keeps the bits of every element, also those of NaN.
        if !changes(self.from, self.to, self.overflow) {
            return kernel;
        }
        let is_limited = match (self.to, self.overflow) {
            (DType::I32, _) => false,
            (_, Overflow::Saturate) => true,
            (DType::I8, Overflow::Rust) => self.from.is_real(),
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
    from != to || (overflow == Overflow::Saturate && to.is_real())
}
