//! Stores two elements of operand x side by side from an even one on, of 16 bits in a u32.

fn save_x(at: u32, v: vec2<f32>) {
    x[at / 2u] = pack_pair(v);
}
