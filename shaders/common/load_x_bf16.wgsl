//! One bf16 element of operand x, widened: memory is u32 pairs, and a bf16 is the upper half of an f32.

fn load_x(at: u32) -> f32 {
    return bitcast<f32>((x[at / 2u] >> ((at & 1u) * 16u)) << 16u);
}
