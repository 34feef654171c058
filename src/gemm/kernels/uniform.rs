//! The uniform of a launch: its struct depends on how the operands are supplied, and its scalars come from the call.

use crate::caps::Caps;
use crate::gemm::problem::{
    ALPHA, BETA, GemmDims, GemmProblem, Generated, SeedSource, SeededADims, SeededBDims, SegmentDims, Side,
};
use crate::kernel::Kernel;
use crate::plan::{Dims, Draft};
use std::mem::offset_of;

/// The uniform for each source of operands.
enum Uniform {
    Product(GemmDims),
    SeededA(SeededADims),
    SeededB(SeededBDims),
    Segments(SegmentDims),
}

impl GemmProblem {
    /// The uniform of a launch that multiplies, with these dims.
    fn uniform(&self, dims: &GemmDims) -> Uniform {
        match self.generated {
            None => Uniform::Product(*dims),
            Some(Generated::Operand(generated)) => seeded(generated.side, generated.seed, dims),
            Some(Generated::SignHalf(_)) => seeded(Side::B, SeedSource::Scalars, dims),
            Some(Generated::Segments(segments)) => Uniform::Segments(segments.dims(dims)),
        }
    }

    /// Binds the uniform of a kernel that multiplies.
    pub(in crate::gemm) fn bind_dims(&self, kernel: Kernel, caps: &Caps) -> Kernel {
        match self.uniform(&self.dims) {
            Uniform::Product(_) => kernel.dims(caps, size_of::<GemmDims>()),
            Uniform::SeededA(_) => kernel.dims(caps, size_of::<SeededADims>()).slot("gemm_dims", "seeded_a"),
            Uniform::SeededB(_) => kernel.dims(caps, size_of::<SeededBDims>()).slot("gemm_dims", "seeded_b"),
            Uniform::Segments(_) => kernel.dims(caps, size_of::<SegmentDims>()).slot("gemm_dims", "segments"),
        }
    }

    /// The uniform of a launch that multiplies without an epilogue: of the scalars, it receives the seed.
    pub(in crate::gemm) fn seeded_dims(&self, dims: &GemmDims, draft: &Draft<'_>) -> Dims {
        let (dims, [low, high]) = match self.uniform(dims) {
            Uniform::Product(dims) => return Dims::of(&dims),
            Uniform::Segments(dims) => return Dims::of(&dims),
            Uniform::SeededA(dims) => {
                (Dims::of(&dims), [offset_of!(SeededADims, seed_low), offset_of!(SeededADims, seed_high)])
            }
            Uniform::SeededB(dims) => {
                (Dims::of(&dims), [offset_of!(SeededBDims, seed_low), offset_of!(SeededBDims, seed_high)])
            }
        };
        SeedSource::put(dims, [low, high], draft)
    }

    /// The uniform of a launch that multiplies and applies the epilogue: it receives all scalars of the call.
    pub(in crate::gemm) fn call_dims(&self, dims: &GemmDims, draft: &Draft<'_>) -> Dims {
        let uniform = self.seeded_dims(&unscaled(dims), draft);
        // A product over segments has no epilogue.
        if self.segments().is_some() { uniform } else { scaled(uniform, draft) }
    }
}

/// The uniform of a launch that generates the operand on this side.
fn seeded(side: Side, seed: SeedSource, dims: &GemmDims) -> Uniform {
    let [seed_low, seed_high] = seed.words();
    // NOTE: the fields agree with those of `GemmDims`, except that the seed replaces strides.
    match side {
        Side::A => Uniform::SeededA(SeededADims { seed_low, seed_high, ..bytemuck::cast(*dims) }),
        Side::B => Uniform::SeededB(SeededBDims { seed_low, seed_high, ..bytemuck::cast(*dims) }),
    }
}

/// The uniform of a launch that only applies the epilogue: it receives alpha and beta.
pub(super) fn epilogue_dims(dims: &GemmDims, draft: &Draft<'_>) -> Dims {
    scaled(Dims::of(&unscaled(dims)), draft)
}

/// These dims with the values of the scalars that the call does not supply: alpha is 1, beta is 0.
fn unscaled(dims: &GemmDims) -> GemmDims {
    GemmDims { alpha: 1f32.to_bits(), beta: 0, ..*dims }
}

fn scaled(dims: Dims, draft: &Draft<'_>) -> Dims {
    let dims = draft.put(dims, ALPHA, offset_of!(GemmDims, alpha));
    draft.put(dims, BETA, offset_of!(GemmDims, beta))
}
