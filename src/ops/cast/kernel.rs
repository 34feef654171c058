//! The kernel of copies, `shaders/ops/cast.wgsl`: its slots hold what turns an element of one type into another.

use super::problem::{CastDims, CastProblem, Overflow};
use crate::gpu::Caps;
use crate::kernel::Kernel;
use crate::tensor::DType;
use half::{bf16, f16};

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
        let kernel = match self.from {
            DType::F16 => kernel.slot("widen", "f16"),
            DType::Bf16 => kernel.slot("widen", "bf16"),
            DType::I8 => kernel.slot("widen", "i8"),
            DType::F32 | DType::I32 => kernel,
        };
        let kernel = match (self.from.is_real(), self.to.is_real()) {
            (true, false) => kernel.slot("convert", "to_integer"),
            (false, true) => kernel.slot("convert", "to_real"),
            (true, true) | (false, false) => kernel,
        };
        let kernel = match (self.to, self.overflow) {
            (DType::I8, Overflow::Saturate) => kernel.slot("limit", "i8"),
            (DType::I8, Overflow::Rust) if self.from.is_real() => kernel.slot("limit", "i8"),
            (DType::F32, Overflow::Saturate) => limit_real(kernel, f32::MAX),
            (DType::F16, Overflow::Saturate) => limit_real(kernel, f16::MAX.to_f32()),
            (DType::Bf16, Overflow::Saturate) => limit_real(kernel, bf16::MAX.to_f32()),
            (DType::I32, _) | (_, Overflow::Rust) => kernel,
        };
        match self.to {
            DType::F16 => kernel.slot("narrow", "f16"),
            DType::Bf16 => kernel.slot("narrow", "bf16"),
            DType::F32 | DType::I8 | DType::I32 => kernel,
        }
    }
}

/// Whether a value may come out as another, or with other bits. NOTE: saturating changes infinities of the same type.
fn changes(from: DType, to: DType, overflow: Overflow) -> bool {
    from != to || (overflow == Overflow::Saturate && to.is_real())
}

fn limit_real(kernel: Kernel, largest: f32) -> Kernel {
    kernel.slot("limit", "real").param("LARGEST", format!("{:#x}u", largest.to_bits()))
}

/// Elements in a word of memory.
pub(super) fn per_word(dtype: DType) -> u32 {
    match dtype {
        DType::F32 | DType::I32 => 1,
        DType::F16 | DType::Bf16 => 2,
        DType::I8 => 4,
    }
}
