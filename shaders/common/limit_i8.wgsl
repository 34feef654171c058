//! Limits an i32 to what i8 holds.

fn limit(value: u32) -> u32 {
    return bitcast<u32>(clamp(bitcast<i32>(value), -128, 127));
}
