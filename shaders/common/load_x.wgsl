//! One element of operand x, widened: f32 or f16 memory.

fn load_x(at: u32) -> f32 {
    return f32(x[at]);
}
