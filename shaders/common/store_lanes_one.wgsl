//! Stores one element of C.

//#import store_element

fn store_lanes(at: u32, count: u32, v: f32) {
    store_element(at, v);
}
