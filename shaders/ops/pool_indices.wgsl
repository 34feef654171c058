//! Stores the indices of four channels of a position: `store_indices(at, count, v)` the first `count` of them, from element `at` on;
//! all four if `count` is larger.

//#variant none
// No indices are wanted.
fn store_indices(at: u32, count: u32, v: vec4<i32>) {}

//#variant elements
// One by one.
@group(0) @binding(2) var<storage, read_write> indices: array<i32>;

fn store_indices(at: u32, count: u32, v: vec4<i32>) {
    indices[at] = v.x;
    if count > 1u { indices[at + 1u] = v.y; }
    if count > 2u { indices[at + 2u] = v.z; }
    if count > 3u { indices[at + 3u] = v.w; }
}

//#variant vectors
// Four together: their number is a multiple of four in each position.
@group(0) @binding(2) var<storage, read_write> indices: array<vec4<i32>>;

fn store_indices(at: u32, count: u32, v: vec4<i32>) {
    indices[at / 4u] = v;
}
