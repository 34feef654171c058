//! Stores four blades of C side by side from a multiple of four on.

fn store_blades(at: u32, count: u32, v: vec4<f32>) {
    c[at / 4u] = c_unit(v);
}
