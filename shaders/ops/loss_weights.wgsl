//! The weights of quad k of a unit: `weights_of(at, k, count)`, for a unit at `at`. Its first `count` elements exist (all if
//! `count` is larger); the others are undefined. Weights are f32.

//#variant strided
// With any stride.
//#slot load x=w default element
//#slot load_quad x=w default reals

fn weights_of(at: u32, k: u32, count: u32) -> vec4<f32> {
    return load_quad_w(at, dims.axes.axis0.w, count);
}

//#variant repeated
// One weight for all elements of a row.
fn weights_of(at: u32, k: u32, count: u32) -> vec4<f32> {
    return vec4<f32>(w[at]);
}

//#variant vectors
// Vectors of 16 bytes.
fn weights_of(at: u32, k: u32, count: u32) -> vec4<f32> {
    return w[at / 4u + select(0u, k, count > 4u * k)];
}
