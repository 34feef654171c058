//! A uniform entry of a sketch: the middle of one of 2^24 parts of -1..1, exact.

fn entry(word: u32) -> f32 {
    return f32(i32(word >> 8u) * 2 - 16777215) * 5.9604644775390625e-8; // 2^-24
}
