//! One bf16 element of operand x, widened, where halves of a pair are replaced atomically.

fn load_x(at: u32) -> f32 {
    return bitcast<f32>((atomicLoad(&x[at / 2u]) >> ((at & 1u) * 16u)) << 16u);
}
