//! Elements of operand B, half of which is in memory and half signs that are made from a seed, along its outer axis or
//! along k. Each half counts its indices from its own start, and may have any extent: each element is looked at alone.

//#import philox
//#import sign_words

//#param  set by HalfSigns::bind; these defaults are a legal half
alias b_element = f32; // f16 where that is staged: what is in memory stays as it is
const HALF_AXIS: u32 = 0u; // the axis that is split: 0 the outer one, 1 k
const SIGN_HALF: u32 = 0u; // the half that is signs: 0 the first, 1 the second
const SIGN_ROWS: u32 = 0u; // the axis along which the rows of the signs lie, as HALF_AXIS
//#end
const SIGN_COLUMNS: u32 = 1u - SIGN_ROWS;

fn sign_half_b(outer: u32, k: u32) -> b_element {
    let extent = (vec2<u32>(dims.n, dims.k) / 2u)[HALF_AXIS];
    var at = vec2<u32>(outer, k);
    let half = u32(at[HALF_AXIS] >= extent);
    at[HALF_AXIS] -= half * extent;
    if half != SIGN_HALF {
        return load_b(dims.b_offset + at.x * dims.b_outer + at.y * dims.b_k);
    }
    let words = sign_words(at[SIGN_ROWS], at[SIGN_COLUMNS], vec2<u32>(dims.seed_low, dims.seed_high));
    let bit = (words[at[SIGN_ROWS] % 4u] >> (at[SIGN_COLUMNS] % 32u)) & 1u;
    return 1.0 - 2.0 * b_element(bit);
}
