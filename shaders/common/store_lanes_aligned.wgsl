//! Stores as many elements of C at once as an invocation has positions, from a multiple of their number on.

fn store_lanes(at: u32, count: u32, v: lanes) {
    c[at / WIDTH] = c_unit(v);
}
