//! The kernel of copies, `shaders/ops/cast.wgsl`: its parameters say from which type to which.

use super::problem::{CastDims, CastProblem};
use crate::caps::Caps;
use crate::kernel::Kernel;
use crate::layout::{DType, Overflow};
use crate::ops::numbers::constant;

/// Invocations of one workgroup.
pub(super) const LANES: u32 = 64;

impl CastProblem {
    /// What runs in each workgroup.
    pub(super) fn kernel(&self, caps: &Caps) -> Kernel {
        let kernel = Kernel::new("ops/cast")
            .dims(caps, size_of::<CastDims>())
            .param("A_PER_WORD", per_word(self.from))
            .param("C_PER_WORD", per_word(self.to))
            .param("LANES", LANES);
        // What stays the same type and is not limited keeps its bits, of NaN too: no step is taken.
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

/// Whether a value may come out as another, or with other bits. NOTE: saturating changes infinities of the same type.
fn changes(from: DType, to: DType, overflow: Overflow) -> bool {
    from != to || (overflow == Overflow::Saturate && to.is_real())
}

/// Elements in a word of memory.
pub(super) fn per_word(dtype: DType) -> u32 {
    match dtype {
        DType::F32 | DType::I32 => 1,
        DType::F16 | DType::Bf16 => 2,
        DType::I8 => 4,
    }
}
