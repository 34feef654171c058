//! Keys of elements: integers in the order of the values, or in the reverse order if dims.number is 0xffffffff. NaN has the largest
//! key. The bits of an element count as far as dims.mask has them.
//#import numbers

//#param  set by ReduceProblem::kernel
const A_TYPE: u32 = F32; // a constant of `numbers`
//#end

fn key_of(x: u32) -> u32 {
    let bits = widened(A_TYPE, x) & dims.mask;
    if is_real(A_TYPE) {
        // The bits of a negative float are in the reverse order. The two zeros are equal.
        let positive = select(bits, 0u, bits == 0x80000000u);
        let key = select(positive | 0x80000000u, ~positive, positive > 0x7fffffffu) ^ dims.number;
        return select(key, 0xffffffffu, (bits & 0x7fffffffu) > 0x7f800000u);
    }
    return bits ^ 0x80000000u ^ dims.number;
}

// The bits of the f32 or i32 with this key.
fn bits_of_key(key: u32) -> u32 {
    let ordered = key ^ dims.number;
    if is_real(A_TYPE) {
        let bits = select(~ordered, ordered & 0x7fffffffu, ordered > 0x7fffffffu);
        return select(bits, 0x7fc00000u, key == 0xffffffffu);
    }
    return ordered ^ 0x80000000u;
}
