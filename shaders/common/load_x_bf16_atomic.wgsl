//! One bf16 element of operand x, widened, where x is stored to half by half.

fn load_x(at: u32) -> f32 {
    return bitcast<f32>((atomicLoad(&x[at / 2u]) >> ((at & 1u) * 16u)) << 16u);
}
