//! Elements of operand B with a sign half: one half is stored, the other consists of signs generated from a seed. The halves
//! are along the outer axis or along k. Indices are relative to the start of a half, which may have any extent.

//#import philox
//#slot seed default number
//#import sign_words

//#param  set by SignHalf::bind; these defaults are a legal half
alias b_value = f32; // f16 if f16 is staged: stored elements are not converted
const HALF_AXIS: u32 = 0u; // the axis with the two halves: 0 the outer axis, 1 k
const SIGN_HALF: u32 = 0u; // the generated half: 0 the first, 1 the second
const SIGN_ROWS: u32 = 0u; // the axis of B that is indexed by the rows of the signs, as HALF_AXIS
//#end
const SIGN_COLUMNS: u32 = 1u - SIGN_ROWS;

fn sign_half_b(outer: u32, k: u32) -> b_value {
    let extent = (vec2<u32>(dims.n, dims.k) / 2u)[HALF_AXIS];
    var at = vec2<u32>(outer, k);
    let half = u32(at[HALF_AXIS] >= extent);
    at[HALF_AXIS] -= half * extent;
    if half != SIGN_HALF {
        return load_b(dims.b_offset + at.x * dims.b_outer + at.y * dims.b_k);
    }
    let words = sign_words(at[SIGN_ROWS], at[SIGN_COLUMNS], seed());
    let bit = (words[at[SIGN_ROWS] % 4u] >> (at[SIGN_COLUMNS] % 32u)) & 1u;
    return 1.0 - 2.0 * b_value(bit);
}
