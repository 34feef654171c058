//! The uniform of a launch: its struct depends on how the operands are supplied, and its scalars come from the call.

use crate::caps::Caps;
use crate::gemm::problem::{
    ALPHA, BETA, GemmDims, GemmProblem, Generated, OUT_SCALE, QuantisedDims, SeedSource, SeededADims,
    SeededBDims, SegmentDims, Side,
};
use crate::kernel::{Kernel, Language};
use crate::plan::{Dims, Draft};
use std::mem::offset_of;

/// The uniform for each source of operands.
enum Uniform {
    Product(GemmDims),
    Quantised(QuantisedDims),
    SeededA(SeededADims),
    SeededB(SeededBDims),
    Segments(SegmentDims),
}

impl Uniform {
    fn bind(&self, kernel: Kernel, caps: &Caps) -> Kernel {
        match self {
            Self::Product(_) => kernel.dims(caps, size_of::<GemmDims>()),
            Self::Quantised(_) => {
                kernel.dims(caps, size_of::<QuantisedDims>()).slot("gemm_dims", "quantised")
            }
            Self::SeededA(_) => kernel.dims(caps, size_of::<SeededADims>()).slot("gemm_dims", "seeded_a"),
            Self::SeededB(_) => kernel.dims(caps, size_of::<SeededBDims>()).slot("gemm_dims", "seeded_b"),
            Self::Segments(_) => kernel.dims(caps, size_of::<SegmentDims>()).slot("gemm_dims", "segments"),
        }
    }
}

impl GemmProblem {
    /// The uniform of a launch that multiplies, with these dims.
    fn uniform(&self, dims: &GemmDims) -> Uniform {
        match self.generated {
            None => self.of_stored(dims),
            Some(Generated::Operand(generated)) => seeded(generated.side, generated.seed, dims),
            Some(Generated::SignHalf(_)) => seeded(Side::B, SeedSource::Scalars, dims),
            Some(Generated::Segments(segments)) => Uniform::Segments(segments.dims(dims)),
        }
    }

    /// The uniform of a launch whose operands are stored, or that only applies the epilogue.
    fn of_stored(&self, dims: &GemmDims) -> Uniform {
        if self.has_quantised_dims() {
            Uniform::Quantised(self.line_places.dims(dims))
        } else {
            Uniform::Product(*dims)
        }
    }

    /// Binds the uniform of a kernel that multiplies.
    pub(in crate::gemm) fn bind_dims(&self, kernel: Kernel, caps: &Caps) -> Kernel {
        self.uniform(&self.dims).bind(kernel, caps)
    }

    /// Binds the uniform of a kernel that only applies the epilogue.
    pub(super) fn bind_epilogue_dims(&self, kernel: Kernel, caps: &Caps) -> Kernel {
        self.of_stored(&self.dims).bind(kernel, caps)
    }

    /// The uniform of a launch that multiplies without an epilogue: of the scalars, it receives the seed. All modules but those of segments have one form.
    pub(in crate::gemm) fn seeded_dims(
        &self,
        dims: &GemmDims,
        language: Language,
        draft: &Draft<'_>,
    ) -> Dims {
        match (language, self.generated) {
            (Language::Spirv, None) => return Dims::of(&self.line_places.dims(dims)),
            (Language::Spirv, Some(Generated::SignHalf(_))) => {
                // The seed replaces the strides of B, which has no batch.
                let seed = [offset_of!(QuantisedDims, b_batch0), offset_of!(QuantisedDims, b_batch1)];
                return SeedSource::put(Dims::of(&self.line_places.dims(dims)), seed, draft);
            }
            _ => {}
        }
        let (dims, [low, high]) = match self.uniform(dims) {
            Uniform::Product(dims) => return Dims::of(&dims),
            Uniform::Quantised(dims) => return Dims::of(&dims),
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
    pub(in crate::gemm) fn call_dims(&self, dims: &GemmDims, language: Language, draft: &Draft<'_>) -> Dims {
        let uniform = self.seeded_dims(&unscaled(dims), language, draft);
        // A product over segments has no epilogue.
        if self.segments().is_some() { uniform } else { scaled(uniform, draft) }
    }

    /// The uniform of a launch that only applies the epilogue: it receives all scalars of the call but the seed.
    pub(super) fn epilogue_dims(&self, dims: &GemmDims, draft: &Draft<'_>) -> Dims {
        let uniform = match self.of_stored(&unscaled(dims)) {
            Uniform::Quantised(dims) => Dims::of(&dims),
            _ => Dims::of(&unscaled(dims)),
        };
        scaled(uniform, draft)
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

/// These dims with the values of the scalars that the call does not supply: alpha is 1, beta is 0.
fn unscaled(dims: &GemmDims) -> GemmDims {
    GemmDims { alpha: 1f32.to_bits(), beta: 0, ..*dims }
}

fn scaled(dims: Dims, draft: &Draft<'_>) -> Dims {
    let dims = draft.put(dims, ALPHA, offset_of!(GemmDims, alpha));
    let dims = draft.put(dims, BETA, offset_of!(GemmDims, beta));
    // Only calls of products with `QuantisedDims` have this scalar.
    draft.put(dims, OUT_SCALE, offset_of!(QuantisedDims, out_scale))
}
