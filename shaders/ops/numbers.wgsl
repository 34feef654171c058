//! Conversions between element types, on the bits of an f32 or i32. Floats are never used: a driver may flush subnormal
//! floats, choose the rounding and change the bits of NaN, but integers are exact. Types are compile-time constants, so
//! compilers remove unused branches.

// The element types.
const F32: u32 = 0u;
const F16: u32 = 1u;
const BF16: u32 = 2u;
const I8: u32 = 3u;
const I32: u32 = 4u;
const E4M3: u32 = 5u; // 8 bits: their conversions are in `fp8`
const E5M2: u32 = 6u;

fn is_real(dtype: u32) -> bool {
    return dtype <= BF16;
}

fn is_float(dtype: u32) -> bool {
    return dtype <= BF16 || dtype >= E4M3;
}

// Converts the bits of an element of this type to those of the f32 or i32 with the same value.
fn widened(dtype: u32, bits: u32) -> u32 {
    if dtype == F16 { return widened_f16(bits); }
    if dtype == BF16 { return bits << 16u; } // the upper half of an f32
    if dtype == I8 { return select(bits, bits | 0xffffff00u, bits >= 0x80u); } // the sign repeated
    return bits;
}

// Converts the bits of an f16 to those of an f32: exact, also for subnormals; NaN stays NaN.
fn widened_f16(bits: u32) -> u32 {
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
    // A subnormal counts units of 2^-24. Its leading bit is implied in an f32, which can represent its exponent.
    let leading = firstLeadingBit(fraction);
    return sign | ((leading + 103u) << 23u) | ((fraction << (23u - leading)) & 0x7fffffu);
}

// Converts the bits of an f32 to those of an i32: truncates toward zero and saturates; NaN becomes 0.
fn to_integer(value: u32) -> u32 {
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

// Converts the bits of an i32 to those of an f32: rounds to nearest, ties to even. WGSL does not specify the rounding
// of its own conversion.
fn to_real(value: u32) -> u32 {
    let is_negative = value > 0x7fffffffu;
    let magnitude = select(value, 0u - value, is_negative); // up to 2^31
    if magnitude == 0u {
        return 0u;
    }
    // The significand keeps 24 bits; the leading one is bit 31 of `aligned`. The other eight bits are rounded.
    let leading = firstLeadingBit(magnitude);
    let aligned = magnitude << (31u - leading);
    let kept = aligned >> 8u;
    let dropped = aligned & 0xffu;
    let up = select(0u, 1u, dropped + (kept & 1u) > 0x80u);
    // Adding the implied leading bit increments the exponent; rounding may increment it again.
    return (value & 0x80000000u) | (((leading + 126u) << 23u) + kept + up);
}

// Clamps the bits of an f32 or i32 to the range of this type. Reals, infinities included, are clamped to the largest
// finite number; NaN stays NaN.
fn limited(dtype: u32, value: u32) -> u32 {
    if dtype == I8 { return bitcast<u32>(clamp(bitcast<i32>(value), -128, 127)); }
    if dtype == F32 { return limited_real(value, 0x7f7fffffu); }
    if dtype == F16 { return limited_real(value, 0x477fe000u); }
    if dtype == BF16 { return limited_real(value, 0x7f7f0000u); }
    if dtype == E4M3 { return limited_real(value, 0x43e00000u); } // 448
    if dtype == E5M2 { return limited_real(value, 0x47600000u); } // 57344
    return value;
}

// Clamps the absolute value of an f32, by its bits; NaN stays NaN.
fn limited_real(value: u32, largest: u32) -> u32 {
    let magnitude = value & 0x7fffffffu;
    let limited = (value & 0x80000000u) | min(magnitude, largest);
    return select(limited, value, magnitude > 0x7f800000u);
}

// Converts the bits of an f32 or i32 to those of an element of this type, in the low bits. Integers wrap.
fn narrowed(dtype: u32, value: u32) -> u32 {
    if dtype == F16 { return narrowed_f16(value); }
    if dtype == BF16 { return narrowed_bf16(value); }
    return value;
}

// Rounds an f32 to f16, to nearest, ties to even. Overflow becomes infinity, NaN stays NaN, subnormals are preserved.
fn narrowed_f16(value: u32) -> u32 {
    let sign = (value >> 16u) & 0x8000u;
    let magnitude = value & 0x7fffffffu;
    if magnitude > 0x7f800000u {
        return sign | 0x7e00u | ((magnitude >> 13u) & 0x3ffu);
    }
    if magnitude >= 0x477ff000u { // 65520, half-way from the largest f16 to the next power of two
        return sign | 0x7c00u;
    }
    // Half a unit of the last kept place; slightly less if that place is even, so that ties round to even.
    if magnitude >= 0x38800000u { // 2^-14, the smallest normal f16; the biases differ by 112
        return sign | ((magnitude + 0xfffu + ((magnitude >> 13u) & 1u) - 0x38000000u) >> 13u);
    }
    // Subnormals are multiples of 2^-24, and the significand counts units of 2^(exponent - 150), so the number of
    // dropped bits depends on the exponent. From 25 on, all bits are dropped. This includes f32 subnormals.
    let dropped = min(126u - (magnitude >> 23u), 25u);
    let significand = (magnitude & 0x7fffffu) | 0x800000u;
    let half = (1u << (dropped - 1u)) - 1u + ((significand >> dropped) & 1u);
    return sign | ((significand + half) >> dropped);
}

// Rounds an f32 to bf16, to nearest, ties to even. Overflow becomes infinity, NaN stays NaN, subnormals are preserved.
fn narrowed_bf16(value: u32) -> u32 {
    if (value & 0x7fffffffu) > 0x7f800000u {
        return (value >> 16u) | 0x40u; // the fraction's upper bits alone might be zero: infinity
    }
    // Half a unit of the last kept place; slightly less if that place is even, so that ties round to even.
    return (value + 0x7fffu + ((value >> 16u) & 1u)) >> 16u;
}
