//! Stores what an invocation has of C, side by side.

//#variant positions
// Stores the first `count` of four elements of C side by side.
//#slot store_quad default elements

fn store_lanes(at: u32, count: u32, v: vec4<f32>) {
    store_quad(at, 1u, count, v);
}

//#variant one
// Stores one element of C.
//#slot store_element default plain

fn store_lanes(at: u32, count: u32, v: f32) {
    store_element(at, v);
}

//#variant two
// Stores the first `count` of two elements of C side by side.
//#slot store_element default plain

fn store_lanes(at: u32, count: u32, v: vec2<f32>) {
    store_element(at, v.x);
    if count > 1u { store_element(at + 1u, v.y); }
}

//#variant aligned
// Stores as many elements of C at once as an invocation has positions, from a multiple of their number on.
fn store_lanes(at: u32, count: u32, v: lanes) {
    c[at / WIDTH] = c_unit(v);
}

//#variant two_packed
// Stores two elements of C side by side from an even one on, of 16 bits in a u32.
fn store_lanes(at: u32, count: u32, v: vec2<f32>) {
    c[at / 2u] = pack_pair(v);
}

//#variant four_packed
// Stores four elements of C side by side from a multiple of four on, of 16 bits in u32 pairs.
fn store_lanes(at: u32, count: u32, v: vec4<f32>) {
    c[at / 4u] = vec2<u32>(pack_pair(v.xy), pack_pair(v.zw));
}

//#variant blades
// Stores the first `count` of four blades of C side by side.
//#slot store_quad default elements

fn store_blades(at: u32, count: u32, v: vec4<f32>) {
    store_quad(at, 1u, count, v);
}

//#variant blades_aligned
// Stores four blades of C side by side from a multiple of four on.
fn store_blades(at: u32, count: u32, v: vec4<f32>) {
    c[at / 4u] = c_unit(v);
}

//#variant blades_packed
// Stores four blades of C side by side from a multiple of four on, of 16 bits in u32 pairs.
fn store_blades(at: u32, count: u32, v: vec4<f32>) {
    c[at / 4u] = vec2<u32>(pack_pair(v.xy), pack_pair(v.zw));
}
