//! How shaders read elements as bits: elements per word, and the constants of types in `shaders/ops/numbers.wgsl`.

use crate::Result;
use crate::kernel::{Kernel, Needs};
use crate::layout::DType;
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Plan, Region};

/// The invocations of a workgroup.
const LANES: u32 = 64;

/// The number of elements in a 32-bit word of memory.
pub(super) fn per_word(dtype: DType) -> u32 {
    match dtype {
        DType::F32 | DType::I32 => 1,
        DType::F16 | DType::Bf16 => 2,
        DType::I8 | DType::F8E4M3 | DType::F8E5M2 => 4,
    }
}

/// The shader's constant for a type.
pub(super) fn constant(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 => "F32",
        DType::F16 => "F16",
        DType::Bf16 => "BF16",
        DType::I8 => "I8",
        DType::I32 => "I32",
        DType::F8E4M3 => "E4M3",
        DType::F8E5M2 => "E5M2",
    }
}

/// The WGSL type of the memory of four elements.
pub(super) fn quad_unit(dtype: DType) -> &'static str {
    match per_word(dtype) {
        1 => "vec4<u32>",
        2 => "vec2<u32>",
        _ => "u32",
    }
}

/// The variant of the slots `quad_bits` and `save_bits`.
pub(super) fn quad_variant(dtype: DType) -> &'static str {
    match per_word(dtype) {
        1 => "words",
        2 => "halves",
        _ => "bytes",
    }
}

/// The plan of one launch of a kernel whose invocations each write four neighbouring elements of a contiguous result of `count`
/// elements, as bits. The result is the first argument.
pub(super) fn plan_of_quads(
    mut draft: Draft<'_>,
    args: &[(Region, Access)],
    kernel: Kernel,
    (count, dtype): (u32, DType),
    dims: Dims,
    flops: Flops,
) -> Result<Plan> {
    let kernel = kernel
        .param("c_unit", quad_unit(dtype))
        .param("LANES", LANES)
        .slot("save_bits_c", quad_variant(dtype));
    draft.step(NewStep {
        tile: format!("{LANES} invocations, four elements each, {dtype}"),
        blocks: u64::from(count.div_ceil(4 * LANES)),
        dims,
        flops,
        ..NewStep::of(kernel, Needs::of(LANES, 0), args)
    })?;
    Ok(draft.finish())
}
