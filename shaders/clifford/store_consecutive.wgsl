//! Stores consecutive elements of C: one blade at the positions of an invocation, or four blades at one position.
//!
//! `store_consecutive(at, count, v)` stores the first `count` elements of `v`, at least one, from index `at` on.
//! Variants that store all elements at once need an `at` that is a multiple of their number, and a `count` equal to it.
//! `v` has the type of the variant, in f32.

//#variant four
// Four elements, one by one or in pairs.
//#slot store_quad default elements

fn store_consecutive(at: u32, count: u32, v: vec4<f32>) {
    store_quad(at, 1u, count, v);
}

//#variant two
// Two elements, one by one.
//#slot save x=c default element

fn store_consecutive(at: u32, count: u32, v: vec2<f32>) {
    save_c(at, v.x);
    if count > 1u { save_c(at + 1u, v.y); }
}

//#variant one
// One element.
//#slot save x=c default element

fn store_consecutive(at: u32, count: u32, v: f32) {
    save_c(at, v);
}

//#variant four_whole
// Four elements at once.
fn store_consecutive(at: u32, count: u32, v: vec4<f32>) {
    c[at / 4u] = c_unit(v);
}

//#variant two_whole
// Two elements at once.
fn store_consecutive(at: u32, count: u32, v: vec2<f32>) {
    c[at / 2u] = c_unit(v);
}

//#variant four_packed
// Four elements of 16 bits at once, in two words.
fn store_consecutive(at: u32, count: u32, v: vec4<f32>) {
    c[at / 4u] = vec2<u32>(pack_pair(v.xy), pack_pair(v.zw));
}

//#variant two_packed
// Two elements of 16 bits at once, in a word.
fn store_consecutive(at: u32, count: u32, v: vec2<f32>) {
    c[at / 2u] = pack_pair(v);
}
