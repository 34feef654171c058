//! What `shaders/ops/numbers.wgsl`, which knows the bits of numbers, calls their types.

use crate::layout::DType;

/// The constant of the shader that stands for a type.
pub(super) fn constant(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 => "F32",
        DType::F16 => "F16",
        DType::Bf16 => "BF16",
        DType::I8 => "I8",
        DType::I32 => "I32",
    }
}
