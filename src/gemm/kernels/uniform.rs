//! The uniform of a launch: its struct depends on how the operands are supplied, and its scalars come from the call.

use crate::caps::Caps;
use crate::gemm::problem::{
    ALPHA, BETA, GemmDims, GemmProblem, Generated, GeneratedOperand, OUT_SCALE, QuantisedDims, SeedSource,
    SeededDims, SegmentDims, Side, WindowB, WindowDims,
};
use crate::kernel::{Kernel, Language};
use crate::plan::{Dims, Draft};
use std::mem::offset_of;

impl GemmProblem {
    /// The side of the operand that is generated, or half of it, and its seed.
    fn seeded(&self) -> Option<(Side, SeedSource)> {
        match self.generated {
            Some(Generated::Operand(GeneratedOperand { side, seed, .. })) => Some((side, seed)),
            Some(Generated::SignHalf(_)) => Some((Side::B, SeedSource::Scalars)),
            Some(Generated::Segments(_) | Generated::Windows(_)) | None => None,
        }
    }

    /// Binds the uniform of a kernel that multiplies.
    pub(in crate::gemm) fn bind_dims(&self, kernel: Kernel, caps: &Caps) -> Kernel {
        if self.segments().is_some() {
            return kernel.dims::<SegmentDims>(caps).slot("gemm_dims", "segments");
        }
        if self.windows().is_some() {
            let variant = match self.window_b() {
                Some(WindowB::Windows) if self.has_groups() => "window_row_groups",
                _ if self.has_groups() => "window_groups",
                _ => "windows",
            };
            return kernel.dims::<WindowDims>(caps).slot("gemm_dims", variant);
        }
        let Some((side, _)) = self.seeded() else { return self.bind_epilogue_dims(kernel, caps) };
        let kernel = kernel.dims::<SeededDims>(caps).slot("gemm_dims", "seeded");
        if side == Side::B { kernel.param("A_IS_STORED", true) } else { kernel }
    }

    /// Binds the uniform of a kernel that only applies the epilogue.
    pub(super) fn bind_epilogue_dims(&self, kernel: Kernel, caps: &Caps) -> Kernel {
        if self.has_quantised_dims() {
            kernel.dims::<QuantisedDims>(caps).slot("gemm_dims", "quantised")
        } else {
            kernel.dims::<GemmDims>(caps)
        }
    }

    /// The uniform of a launch whose operands are stored, or that only applies the epilogue.
    fn stored_dims(&self, dims: &GemmDims) -> Dims {
        if self.has_quantised_dims() { Dims::of(&self.quantised_dims(dims)) } else { Dims::of(dims) }
    }

    /// The uniform of a launch that multiplies without an epilogue: of the scalars, it receives the seed. All modules but those of segments have one form.
    pub(in crate::gemm) fn seeded_dims(&self, language: Language, draft: &Draft<'_>) -> Dims {
        if let Some(segments) = self.segments() {
            return Dims::of(&self.segment_dims(&segments));
        }
        if let Some(windows) = self.windows() {
            return Dims::of(&self.window_dims(&windows));
        }
        let dims = self.dims();
        match (language, self.seeded()) {
            (Language::Wgsl, None) => self.stored_dims(&dims),
            (Language::Spirv, None) => Dims::of(&self.quantised_dims(&dims)),
            (Language::Spirv, Some(_)) => {
                // The seed replaces the strides of B, which has no batch.
                let seed = [offset_of!(QuantisedDims, b_batch0), offset_of!(QuantisedDims, b_batch1)];
                SeedSource::put(Dims::of(&self.quantised_dims(&dims)), seed, draft)
            }
            (Language::Wgsl, Some((side, source))) => {
                let [seed_low, seed_high] = source.words();
                let [stored_batch0, stored_batch1] = match side {
                    Side::A => [dims.b_batch0, dims.b_batch1],
                    Side::B => [dims.a_batch0, dims.a_batch1],
                };
                // NOTE: the other fields agree with those of `GemmDims`.
                let of_product: SeededDims = bytemuck::cast(dims);
                let dims = SeededDims { seed_low, seed_high, stored_batch0, stored_batch1, ..of_product };
                let seed = [offset_of!(SeededDims, seed_low), offset_of!(SeededDims, seed_high)];
                SeedSource::put(Dims::of(&dims), seed, draft)
            }
        }
    }

    /// The uniform of a launch that multiplies and applies the epilogue: it receives all scalars of the call.
    pub(in crate::gemm) fn call_dims(&self, language: Language, draft: &Draft<'_>) -> Dims {
        let uniform = self.seeded_dims(language, draft);
        // A product over segments has no epilogue.
        if self.segments().is_some() { uniform } else { scaled(uniform, draft) }
    }

    /// The uniform of a launch that only applies the epilogue to the sums of these splits: it receives all scalars of the call but
    /// the seed.
    pub(super) fn epilogue_dims(&self, splits: u32, draft: &Draft<'_>) -> Dims {
        scaled(self.stored_dims(&GemmDims { splits, ..self.dims() }), draft)
    }
}

fn scaled(dims: Dims, draft: &Draft<'_>) -> Dims {
    let dims = draft.put(dims, ALPHA, offset_of!(GemmDims, alpha));
    let dims = draft.put(dims, BETA, offset_of!(GemmDims, beta));
    // Only calls of products with `QuantisedDims` have this scalar.
    draft.put(dims, OUT_SCALE, offset_of!(QuantisedDims, out_scale))
}
