//! Converts an f32 to i32 in integer code: truncates toward zero and saturates; NaN is zero.

fn convert(value: u32) -> u32 {
    let magnitude = value & 0x7fffffffu;
    let is_negative = value > 0x7fffffffu;
    if magnitude > 0x7f800000u || magnitude < 0x3f800000u { // NaN, or below 1
        return 0u;
    }
    if magnitude >= 0x4f000000u { // 2^31
        return select(0x7fffffffu, 0x80000000u, is_negative);
    }
    // The significand counts units of 2^(exponent - 150), from 2^-23 to 2^7.
    let exponent = magnitude >> 23u;
    let significand = (magnitude & 0x7fffffu) | 0x800000u;
    let truncated = (significand << (max(exponent, 150u) - 150u)) >> (150u - min(exponent, 150u));
    return select(truncated, 0u - truncated, is_negative);
}
