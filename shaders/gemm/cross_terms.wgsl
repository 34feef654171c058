//! The cross terms of two f16 splits, high times low half: `with_cross_terms(sum, row, col)`.

//#variant none
// Splits without low halves have no cross terms.
fn with_cross_terms(sum: f32, row: u32, col: u32) -> f32 {
    return sum;
}

//#variant added
// Adds the sum of the cross terms, whose low halves are scaled by 2^11.
@group(0) @binding(EXPONENTS_BINDING + 2u) var<storage, read> cross_sums: array<f32>;

fn with_cross_terms(sum: f32, row: u32, col: u32) -> f32 {
    return fma(cross_sums[(matrices.index * dims.m + row) * dims.n + col], 0x1p-11f, sum);
}
