//! The sums of the cross terms of two halves, of which the low one is scaled by 2^11.

@group(0) @binding(EXPONENTS_BINDING + 2u) var<storage, read> cross_sums: array<f32>;

fn with_cross_terms(sum: f32, row: u32, col: u32) -> f32 {
    return fma(cross_sums[(matrices.index * dims.m + row) * dims.n + col], 0x1p-11f, sum);
}
