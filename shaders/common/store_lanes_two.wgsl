//! Stores the first `count` of two elements of C side by side.

//#import store_element

fn store_lanes(at: u32, count: u32, v: vec2<f32>) {
    store_element(at, v.x);
    if count > 1u { store_element(at + 1u, v.y); }
}
