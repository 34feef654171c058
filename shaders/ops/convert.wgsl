//! Converts the bits of an f32 to those of an i32, or back: `convert(value)`.

//#variant none
// Converts between a real and an integer value: not needed here, as both sides are reals or both integers.
fn convert(value: u32) -> u32 {
    return value;
}

//#variant to_integer
// Converts an f32 to i32 in integer code: truncates toward zero and saturates; NaN is zero.
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

//#variant to_real
// Converts an i32 to f32 in integer code, rounded to the nearest, ties to even: WGSL leaves open to which neighbour.
fn convert(value: u32) -> u32 {
    let is_negative = value > 0x7fffffffu;
    let magnitude = select(value, 0u - value, is_negative); // up to 2^31
    if magnitude == 0u {
        return 0u;
    }
    // 24 bits stay, the leading one at bit 31 of `aligned`: eight are rounded away.
    let leading = firstLeadingBit(magnitude);
    let aligned = magnitude << (31u - leading);
    let kept = aligned >> 8u;
    let dropped = aligned & 0xffu;
    let up = select(0u, 1u, dropped + (kept & 1u) > 0x80u);
    // The leading bit, which is implied, adds one to the exponent; so may the rounding.
    return (value & 0x80000000u) | (((leading + 126u) << 23u) + kept + up);
}
