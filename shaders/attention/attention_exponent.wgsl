//! The exponent by which numbers of any size are stored as f16. `level` is the exponent field of the largest number, as in the bits
//! of an f32. `down(level)` is a power of two that brings that number to at least 2^14 and below 2^15, and `up(level)` its
//! reciprocal; `between(old, level)` is the factor of sums of numbers at an old level.

// The lowest level: 2^-100, so that all factors are normal numbers. Smaller numbers have this level.
const LEAST_LEVEL: u32 = 27u;

// The bits of the largest magnitude that is finite.
fn top_of(x: vec4<f32>) -> u32 {
    let magnitude = bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu);
    let finite = select(vec4<u32>(0u), magnitude, magnitude < vec4<u32>(0x7f800000u));
    return max(max(finite.x, finite.y), max(finite.z, finite.w));
}

fn down(level: u32) -> f32 {
    return bitcast<f32>((268u - level) << 23u);
}

fn up(level: u32) -> f32 {
    return bitcast<f32>((level - 14u) << 23u);
}

// 0 if it would not be a normal number.
fn between(old: u32, level: u32) -> f32 {
    return bitcast<f32>((127u - min(level - old, 127u)) << 23u);
}
