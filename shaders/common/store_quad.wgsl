//! Stores the first `count` of four elements of C that are a stride apart, one by one.

//#import store_element

fn store_quad(at: u32, stride: u32, count: u32, v: vec4<f32>) {
    store_element(at, v.x);
    if count > 1u { store_element(at + stride, v.y); }
    if count > 2u { store_element(at + 2u * stride, v.z); }
    if count > 3u { store_element(at + 3u * stride, v.w); }
}
