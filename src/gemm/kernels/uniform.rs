//! The uniform of a launch: its struct depends on how the operands are supplied, and its scalars come from the call.

use crate::caps::Caps;
use crate::gemm::problem::{
    ALPHA, BETA, GemmDims, GemmProblem, Generated, OUT_SCALE, QuantisedDims, SeedSource, SeededDims,
    SegmentDims, Side,
};
use crate::kernel::{Kernel, Language};
use crate::plan::{Dims, Draft};
use std::mem::offset_of;

/// The uniform for each source of operands.
enum Uniform {
    Product(GemmDims),
    Quantised(QuantisedDims),
    /// The operand on this side is generated.
    Seeded(Side, SeededDims),
    Segments(SegmentDims),
}

impl Uniform {
    fn bind(&self, kernel: Kernel, caps: &Caps) -> Kernel {
        match self {
            Self::Product(_) => kernel.dims::<GemmDims>(caps),
            Self::Quantised(_) => kernel.dims::<QuantisedDims>(caps).slot("gemm_dims", "quantised"),
            Self::Seeded(side, _) => {
                let kernel = kernel.dims::<SeededDims>(caps).slot("gemm_dims", "seeded");
                if *side == Side::B { kernel.param("A_IS_STORED", true) } else { kernel }
            }
            Self::Segments(_) => kernel.dims::<SegmentDims>(caps).slot("gemm_dims", "segments"),
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
        match self.uniform(dims) {
            Uniform::Product(dims) => Dims::of(&dims),
            Uniform::Quantised(dims) => Dims::of(&dims),
            Uniform::Segments(dims) => Dims::of(&dims),
            Uniform::Seeded(_, dims) => {
                let seed = [offset_of!(SeededDims, seed_low), offset_of!(SeededDims, seed_high)];
                SeedSource::put(Dims::of(&dims), seed, draft)
            }
        }
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
    let [stored_batch0, stored_batch1] = match side {
        Side::A => [dims.b_batch0, dims.b_batch1],
        Side::B => [dims.a_batch0, dims.a_batch1],
    };
    // NOTE: the other fields agree with those of `GemmDims`.
    let of_product = bytemuck::cast(*dims);
    Uniform::Seeded(side, SeededDims { seed_low, seed_high, stored_batch0, stored_batch1, ..of_product })
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
