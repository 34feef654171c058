//! The bits of an f16 as those of the same f32: exact, subnormals too; NaN stays NaN.

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
