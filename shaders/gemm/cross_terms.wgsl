//! The sums of cross terms of operands in two halves: `with_cross_terms(sum, row, col)`.

//#variant none
// Operands of one half each have no cross terms.
fn with_cross_terms(sum: f32, row: u32, col: u32) -> f32 {
    return sum;
}

//#variant added
// The sums of the cross terms of two halves, of which the low one is scaled by 2^11.
@group(0) @binding(EXPONENTS_BINDING + 2u) var<storage, read> cross_sums: array<f32>;

fn with_cross_terms(sum: f32, row: u32, col: u32) -> f32 {
    return fma(cross_sums[(matrices.index * dims.m + row) * dims.n + col], 0x1p-11f, sum);
}
