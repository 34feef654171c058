//! What matrix products' shaders know of sizes: a uniform for each form of operands (`shaders/gemm/gemm_dims.wgsl`).

use super::epilogue::{ALPHA, BETA, SEED_HIGH, SEED_LOW};
use super::generated::{Generated, Made};
use super::halves::Side;
use super::problem::{GemmDims, GemmProblem};
use super::segments::SegmentDims;
use crate::caps::Caps;
use crate::kernel::Kernel;
use crate::plan::{Dims, Draft, ScalarParameter};
use std::mem::offset_of;

/// The uniform of a product whose A is made from a seed: it has no batch, and in its strides' place the seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct SeededADims {
    pub m: u32,
    pub n: u32,
    pub k: u32,
    pub k_part: u32,
    pub batches: u32,
    pub batch1: u32,
    pub splits: u32,
    pub a_outer: u32,
    pub a_k: u32,
    pub a_offset: u32,
    pub seed_low: u32,
    pub seed_high: u32,
    pub b_outer: u32,
    pub b_k: u32,
    pub b_offset: u32,
    pub b_batch0: u32,
    pub b_batch1: u32,
    pub ldc: u32,
    pub c_offset: u32,
    pub c_batch0: u32,
    pub c_batch1: u32,
    pub alpha: u32,
    pub beta: u32,
    pub bias_row: u32,
    pub bias_col: u32,
    pub bias_offset: u32,
    pub residual_row: u32,
    pub residual_col: u32,
    pub residual_offset: u32,
    pub residual_batch0: u32,
    pub residual_batch1: u32,
    pub scaled_row: u32,
}

/// The uniform of a product whose B, or half of it, is made from a seed: it has no batch, and in its strides' place the seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct SeededBDims {
    pub m: u32,
    pub n: u32,
    pub k: u32,
    pub k_part: u32,
    pub batches: u32,
    pub batch1: u32,
    pub splits: u32,
    pub a_outer: u32,
    pub a_k: u32,
    pub a_offset: u32,
    pub a_batch0: u32,
    pub a_batch1: u32,
    pub b_outer: u32,
    pub b_k: u32,
    pub b_offset: u32,
    pub seed_low: u32,
    pub seed_high: u32,
    pub ldc: u32,
    pub c_offset: u32,
    pub c_batch0: u32,
    pub c_batch1: u32,
    pub alpha: u32,
    pub beta: u32,
    pub bias_row: u32,
    pub bias_col: u32,
    pub bias_offset: u32,
    pub residual_row: u32,
    pub residual_col: u32,
    pub residual_offset: u32,
    pub residual_batch0: u32,
    pub residual_batch1: u32,
    pub scaled_row: u32,
}

/// A product's dims in the form of its operands.
enum Uniform {
    Product(GemmDims),
    SeededA(SeededADims),
    SeededB(SeededBDims),
    Segments(SegmentDims),
}

impl GemmProblem {
    /// The uniform of a launch that multiplies, by these dims.
    fn uniform(&self, dims: &GemmDims) -> Uniform {
        match self.made {
            None => Uniform::Product(*dims),
            // NOTE: all but the seed lies as `GemmDims` has it, and the strides in its place are 0.
            Some(Made::Whole(Generated { side: Side::A, .. })) => Uniform::SeededA(bytemuck::cast(*dims)),
            Some(Made::Whole(_) | Made::Half(_)) => Uniform::SeededB(bytemuck::cast(*dims)),
            Some(Made::Segments(segments)) => Uniform::Segments(segments.dims(dims)),
        }
    }

    /// Binds the uniform of a kernel that multiplies.
    pub(super) fn bind_dims(&self, kernel: Kernel, caps: &Caps) -> Kernel {
        match self.uniform(&self.dims) {
            Uniform::Product(_) => kernel.dims(caps, size_of::<GemmDims>()),
            Uniform::SeededA(_) => kernel.dims(caps, size_of::<SeededADims>()).slot("gemm_dims", "seeded_a"),
            Uniform::SeededB(_) => kernel.dims(caps, size_of::<SeededBDims>()).slot("gemm_dims", "seeded_b"),
            Uniform::Segments(_) => kernel.dims(caps, size_of::<SegmentDims>()).slot("gemm_dims", "segments"),
        }
    }

    /// The uniform of a launch that multiplies without an epilogue, with the seed of a made operand in its place.
    pub(super) fn with_seed(&self, dims: &GemmDims, draft: &Draft<'_>) -> Dims {
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
        put(put(dims, SEED_LOW, low, draft), SEED_HIGH, high, draft)
    }

    /// The uniform of the one launch of the product, with all numbers of the call in their places.
    pub(super) fn with_scalars(&self, dims: &GemmDims, draft: &Draft<'_>) -> Dims {
        let uniform = self.with_seed(&unscaled(dims), draft);
        // What is summed over segments has no epilogue.
        if self.segments().is_some() { uniform } else { scaled(uniform, draft) }
    }
}

/// The uniform of a launch that has nothing but an epilogue, with its numbers in their places.
pub(super) fn of_epilogue(dims: &GemmDims, draft: &Draft<'_>) -> Dims {
    scaled(Dims::of(&unscaled(dims)), draft)
}

/// Of what the call does not pass, alpha is 1 and beta 0.
fn unscaled(dims: &GemmDims) -> GemmDims {
    GemmDims { alpha: 1f32.to_bits(), beta: 0, ..*dims }
}

// Where all that have an epilogue have its numbers.
const _: () = assert!(offset_of!(SeededADims, alpha) == offset_of!(GemmDims, alpha));
const _: () = assert!(offset_of!(SeededBDims, alpha) == offset_of!(GemmDims, alpha));
const _: () = assert!(offset_of!(SeededADims, beta) == offset_of!(GemmDims, beta));
const _: () = assert!(offset_of!(SeededBDims, beta) == offset_of!(GemmDims, beta));

fn scaled(dims: Dims, draft: &Draft<'_>) -> Dims {
    let dims = put(dims, ALPHA, offset_of!(GemmDims, alpha), draft);
    put(dims, BETA, offset_of!(GemmDims, beta), draft)
}

/// These dims with the scalar at this offset, if the call passes it.
fn put(dims: Dims, scalar: ScalarParameter, offset: usize, draft: &Draft<'_>) -> Dims {
    match draft.scalar(scalar.name) {
        Some(index) => dims.scalar(offset, index),
        None => dims,
    }
}
