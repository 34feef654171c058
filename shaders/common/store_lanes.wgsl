//! Stores the first `count` of four elements of C side by side.

//#import store_quad

fn store_lanes(at: u32, count: u32, v: vec4<f32>) {
    store_quad(at, 1u, count, v);
}
