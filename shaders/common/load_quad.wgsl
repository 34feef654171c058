//! The first `count` of four elements of operand x, `stride` apart, widened: `load_quad_x(at, stride, count)`. All four if `count`
//! is larger. The others repeat the first.

//#variant reals
// Elements of operand x, as f32.
fn load_quad_x(at: u32, stride: u32, count: u32) -> vec4<f32> {
    var v = vec4<f32>(load_x(at));
    if count > 1u { v.y = load_x(at + stride); }
    if count > 2u { v.z = load_x(at + 2u * stride); }
    if count > 3u { v.w = load_x(at + 3u * stride); }
    return v;
}

//#variant integers
// Elements of operand x, as i32.
fn load_quad_x(at: u32, stride: u32, count: u32) -> vec4<i32> {
    var v = vec4<i32>(load_x(at));
    if count > 1u { v.y = load_x(at + stride); }
    if count > 2u { v.z = load_x(at + 2u * stride); }
    if count > 3u { v.w = load_x(at + 3u * stride); }
    return v;
}
