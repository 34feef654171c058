//! The bits of a bf16 as those of the same f32, whose upper half it is.

fn widen(bits: u32) -> u32 {
    return bits << 16u;
}
