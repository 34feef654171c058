//! A standard normal number from a random word: `normal_entry(word)`. The kernel has `table(i)`, entry i of
//! `layout/random/normal_table.rs`.

// From a table of the inverse distribution function: see `layout/random/normal.rs`. All arithmetic is on integers, except for the
// last multiplication, which is exact.
fn normal_entry(word: u32) -> f32 {
    let odd = (word << 1u) | 1u; // wraps: drops the sign; the tail probability times 2^33
    let exponent = firstLeadingBit(odd);
    let scaled = odd << (31u - exponent);
    let at = 32u * exponent + ((scaled >> 26u) & 31u);
    let above = table(at);
    let z = above - (((above - table(at + 1u)) * ((scaled >> 11u) & 0x7fffu) + 0x4000u) >> 15u);
    let signed = select(i32(z), -i32(z), (word >> 31u) == 1u);
    return f32(signed) * 4.76837158203125e-7; // 2^-21
}
