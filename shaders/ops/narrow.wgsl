//! The bits of an f32 or i32 as those of an element: `narrow(value)`.

//#variant same
// The low bits of a value as an element: integers, f32, and copies to the same type.
fn narrow(value: u32) -> u32 {
    return value;
}

//#variant f16
// Rounds an f32 to f16 in integer code, to the nearest, ties to even: overflow is infinity, NaN stays NaN, subnormals
// are kept.
fn narrow(value: u32) -> u32 {
    let sign = (value >> 16u) & 0x8000u;
    let magnitude = value & 0x7fffffffu;
    if magnitude > 0x7f800000u {
        return sign | 0x7e00u | ((magnitude >> 13u) & 0x3ffu);
    }
    if magnitude >= 0x477ff000u { // 65520, the middle between the largest f16 and what would be the next
        return sign | 0x7c00u;
    }
    // Half a unit of the last place that stays; less where that place is even, so that ties go there.
    if magnitude >= 0x38800000u { // 2^-14, the smallest normal f16; the biases differ by 112
        return sign | ((magnitude + 0xfffu + ((magnitude >> 13u) & 1u) - 0x38000000u) >> 13u);
    }
    // Subnormals count units of 2^-24, and the significand of 2^(exponent - 150): what is dropped depends on the
    // exponent. From 25 bits on all is, also of f32's own subnormals, whose significand is less than this one.
    let dropped = min(126u - (magnitude >> 23u), 25u);
    let significand = (magnitude & 0x7fffffu) | 0x800000u;
    let half = (1u << (dropped - 1u)) - 1u + ((significand >> dropped) & 1u);
    return sign | ((significand + half) >> dropped);
}

//#variant bf16
// Rounds an f32 to bf16 in integer code, to the nearest, ties to even: overflow is infinity, NaN stays NaN,
// subnormals are kept.
fn narrow(value: u32) -> u32 {
    if (value & 0x7fffffffu) > 0x7f800000u {
        return (value >> 16u) | 0x40u; // the fraction's upper bits alone might be zero: infinity
    }
    // Half a unit of the last place that stays; less where that place is even, so that ties go there.
    return (value + 0x7fffu + ((value >> 16u) & 1u)) >> 16u;
}
