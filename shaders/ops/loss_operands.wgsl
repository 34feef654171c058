//! Quad k of a unit of A and B: `a_values(at, k, count)` and `b_values(at, k, count)`, for a unit at `at`. Its first `count`
//! elements exist (all if `count` is larger); the others are undefined.

//#variant strided
// Units of four elements, with any stride.
//#slot load x=a default element
//#slot load_quad x=a default reals
//#slot load x=b default element
//#slot load_quad x=b default reals

fn a_values(at: u32, k: u32, count: u32) -> vec4<f32> {
    return load_quad_a(at, dims.axes.axis0.y, count);
}

fn b_values(at: u32, k: u32, count: u32) -> vec4<f32> {
    return load_quad_b(at, dims.axes.axis0.z, count);
}

//#variant vectors
// Vectors of 16 bytes.
//#slot aligned_quad x=a default plain
//#slot aligned_quad x=b default plain

fn a_values(at: u32, k: u32, count: u32) -> vec4<f32> {
    return quad_a(at / 4u + k);
}

fn b_values(at: u32, k: u32, count: u32) -> vec4<f32> {
    return quad_b(at / 4u + k);
}
