//! Rounds an f32 to bf16 in integer code, to the nearest, ties to even: overflow is infinity, NaN stays NaN,
//! subnormals are kept.

fn narrow(value: u32) -> u32 {
    if (value & 0x7fffffffu) > 0x7f800000u {
        return (value >> 16u) | 0x40u; // the fraction's upper bits alone might be zero: infinity
    }
    // Half a unit of the last place that stays; less where that place is even, so that ties go there.
    return (value + 0x7fffu + ((value >> 16u) & 1u)) >> 16u;
}
