//! Stores the first `count` of four elements of C, `stride` apart: `store_quad(at, stride, count, v)`. Elements have the type
//! `sum` before they are stored.

//#variant elements
// Stores the first `count` of four elements of C, `stride` apart, one at a time.
//#slot save x=c default element

fn store_quad(at: u32, stride: u32, count: u32, v: vec4<sum>) {
    save_c(at, v.x);
    if count > 1u { save_c(at + stride, v.y); }
    if count > 2u { save_c(at + 2u * stride, v.z); }
    if count > 3u { save_c(at + 3u * stride, v.w); }
}

//#variant pairs
// Stores the first `count` of four consecutive elements of C from an even index: memory is u32, two elements each. An odd count
// ends a row; the other half of its last word is preserved.
fn store_pair(at: u32, count: u32, v: vec2<f32>) {
    var pair = pack_pair(v);
    if count == 1u { pair = (pair & 0xffffu) | (c[at] & 0xffff0000u); }
    c[at] = pair;
}

fn store_quad(at: u32, stride: u32, count: u32, v: vec4<sum>) {
    store_pair(at / 2u, count, v.xy);
    if count > 2u { store_pair(at / 2u + 1u, count - 2u, v.zw); }
}
