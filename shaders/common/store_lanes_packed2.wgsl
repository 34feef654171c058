//! Stores two elements of C side by side from an even one on, of 16 bits in a u32.

fn store_lanes(at: u32, count: u32, v: vec2<f32>) {
    c[at / 2u] = pack_pair(v);
}
