//! Conversions between floating-point numbers of 8 bits and f32, on bits. All of these numbers are normal as f32.
//#import numbers

// `widened` of every type, those of 8 bits included.
fn widened_element(dtype: u32, bits: u32) -> u32 {
    if dtype == E4M3 { return widened_e4m3(bits); }
    if dtype == E5M2 { return widened_e5m2(bits); }
    return widened(dtype, bits);
}

// `narrowed` to every type, those of 8 bits included.
fn narrowed_element(dtype: u32, value: u32) -> u32 {
    if dtype == E4M3 { return narrowed_e4m3(value); }
    if dtype == E5M2 { return narrowed_e5m2(value); }
    return narrowed(dtype, value);
}

// Converts the bits of an e4m3 to those of the f32 with the same value; NaN stays NaN.
fn widened_e4m3(bits: u32) -> u32 {
    let sign = (bits & 0x80u) << 24u;
    let magnitude = bits & 0x7fu;
    if magnitude == 0x7fu {
        return sign | 0x7fc00000u;
    }
    if magnitude >= 8u {
        return sign | ((magnitude << 20u) + 0x3c000000u); // the biases differ by 120
    }
    if magnitude == 0u {
        return sign;
    }
    // A subnormal counts units of 2^-9. Its leading bit is implied in an f32, which can represent its exponent.
    let leading = firstLeadingBit(magnitude);
    return sign | ((leading + 118u) << 23u) | ((magnitude << (23u - leading)) & 0x7fffffu);
}

// Converts the bits of an e5m2 to those of the f32 with the same value. It is the upper half of an f16.
fn widened_e5m2(bits: u32) -> u32 {
    return widened_f16(bits << 8u);
}

// Rounds an f32 to e4m3, to nearest, ties to even. Overflow and infinity become NaN, NaN stays NaN.
fn narrowed_e4m3(value: u32) -> u32 {
    return ((value >> 24u) & 0x80u) | min(rounded_to(value, 3u, 121u), 0x7fu);
}

// Rounds an f32 to e5m2, to nearest, ties to even. Overflow becomes infinity, NaN stays NaN.
fn narrowed_e5m2(value: u32) -> u32 {
    let sign = (value >> 24u) & 0x80u;
    let magnitude = value & 0x7fffffffu;
    if magnitude > 0x7f800000u {
        return sign | 0x7eu | ((magnitude >> 21u) & 3u);
    }
    return sign | min(rounded_to(value, 2u, 113u), 0x7cu);
}

// The exponent and fraction, together, of the value of a format that is nearest to the magnitude of an f32, ties to even. The
// format has `fraction` bits of fraction, and `least` is the exponent, as an f32 stores it, of its smallest normal number. The
// exponent has no end.
fn rounded_to(value: u32, fraction: u32, least: u32) -> u32 {
    let exponent = (value >> 23u) & 0xffu;
    // Subnormal numbers have the exponent of the smallest normal ones.
    let binade = max(exponent, least);
    // From 25 on, all bits are dropped. This includes f32 subnormals, which have no leading bit.
    let dropped = min(23u - fraction + binade - exponent, 25u);
    let significand = (value & 0x7fffffu) | 0x800000u;
    // Half a unit of the last kept place; slightly less if that place is even, so that ties round to even.
    let half = (1u << (dropped - 1u)) - 1u + ((significand >> dropped) & 1u);
    // The significand's leading bit adds 1 to the exponent; a subnormal number has none.
    return ((binade - least) << fraction) + ((significand + half) >> dropped);
}
