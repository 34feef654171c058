//! An entry of a sketch from a word: `entry(word)`.

//#variant normal
// A normal entry of a sketch, from a table of the inverse distribution function: see `sketch/normal.rs`. Integers up
// to the last step, which is exact.
fn entry(word: u32) -> f32 {
    let odd = (word << 1u) | 1u; // wraps: without its sign, the probability of being beyond, times 2^33
    let exponent = firstLeadingBit(odd);
    let scaled = odd << (31u - exponent);
    let at = 32u * exponent + ((scaled >> 26u) & 31u);
    let above = table(at);
    let z = above - (((above - table(at + 1u)) * ((scaled >> 11u) & 0x7fffu) + 0x4000u) >> 15u);
    let signed = select(i32(z), -i32(z), (word >> 31u) == 1u);
    return f32(signed) * 4.76837158203125e-7; // 2^-21
}

//#variant uniform
// A uniform entry of a sketch: the middle of one of 2^24 parts of -1..1, exact.
fn entry(word: u32) -> f32 {
    return f32(i32(word >> 8u) * 2 - 16777215) * 5.9604644775390625e-8; // 2^-24
}
