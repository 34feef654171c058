//! Limits the bits of an f32 or i32 to what its new type holds: `limit(value)`.

//#variant none
// Limits a value to what its new type holds: not here. Integers wrap, reals go to infinity or stay.
fn limit(value: u32) -> u32 {
    return value;
}

//#variant i8
// Limits an i32 to what i8 holds.
fn limit(value: u32) -> u32 {
    return bitcast<u32>(clamp(bitcast<i32>(value), -128, 127));
}

//#variant real
// Limits an f32, infinities too, to the largest finite number of its new type, LARGEST; NaN stays NaN.
fn limit(value: u32) -> u32 {
    let magnitude = value & 0x7fffffffu;
    let limited = (value & 0x80000000u) | min(magnitude, LARGEST);
    return select(limited, value, magnitude > 0x7f800000u);
}
