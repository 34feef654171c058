//! Stores four elements of C side by side from a multiple of four on, of 16 bits in u32 pairs.

fn store_lanes(at: u32, count: u32, v: vec4<f32>) {
    c[at / 4u] = vec2<u32>(pack_pair(v.xy), pack_pair(v.zw));
}
