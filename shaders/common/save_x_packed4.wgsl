//! Stores four elements of operand x side by side from a multiple of four on, of 16 bits in u32 pairs.

fn save_x(at: u32, v: vec4<f32>) {
    x[at / 4u] = vec2<u32>(pack_pair(v.xy), pack_pair(v.zw));
}
