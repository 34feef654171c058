//! Stores one element of operand x: f32 or f16 memory.

fn save_x(at: u32, v: f32) {
    x[at] = x_unit(v);
}
