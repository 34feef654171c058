//! Converts an i32 to f32 in integer code, rounded to the nearest, ties to even: WGSL leaves open to which neighbour.

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
