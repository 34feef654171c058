//! The bits of an element as those of the f32 or i32 of the same value: `widen(bits)`.

//#variant same
// The bits of an element as those of its value: f32 and i32, which are it already, and copies to the same type.
fn widen(bits: u32) -> u32 {
    return bits;
}

//#variant f16
// The bits of an f16 as those of the same f32: exact, subnormals too; NaN stays NaN.
fn widen(bits: u32) -> u32 {
    let sign = (bits & 0x8000u) << 16u;
    let exponent = bits & 0x7c00u;
    let fraction = bits & 0x3ffu;
    if exponent == 0x7c00u {
        return sign | 0x7f800000u | (fraction << 13u);
    }
    if exponent != 0u {
        return sign | (((exponent | fraction) << 13u) + 0x38000000u); // the biases differ by 112
    }
    if fraction == 0u {
        return sign;
    }
    // A subnormal counts units of 2^-24. Its leading bit is implied in an f32, which has the room for its exponent.
    let leading = firstLeadingBit(fraction);
    return sign | ((leading + 103u) << 23u) | ((fraction << (23u - leading)) & 0x7fffffu);
}

//#variant bf16
// The bits of a bf16 as those of the same f32, whose upper half it is.
fn widen(bits: u32) -> u32 {
    return bits << 16u;
}

//#variant i8
// The bits of an i8 as those of the same i32: its sign repeated.
fn widen(bits: u32) -> u32 {
    return select(bits, bits | 0xffffff00u, bits >= 0x80u);
}
