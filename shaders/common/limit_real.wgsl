//! Limits an f32, infinities too, to the largest finite number of its new type, LARGEST; NaN stays NaN.

fn limit(value: u32) -> u32 {
    let magnitude = value & 0x7fffffffu;
    let limited = (value & 0x80000000u) | min(magnitude, LARGEST);
    return select(limited, value, magnitude > 0x7f800000u);
}
