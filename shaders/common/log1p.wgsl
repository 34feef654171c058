//! ln(1 + x) of four values, within 8 ulp of its definition, also near 0.
//#import logarithm

fn log1p_of(x: vec4<f32>) -> vec4<f32> {
    // Near 0 it is 2 artanh(s) with s = x / (2 + x), in which no digits cancel: 2 s + 2/3 s^3 + 2/5 s^5 + ..
    let is_near = (x > vec4<f32>(-0.29)) & (x < vec4<f32>(0.41));
    let a = select(vec4<f32>(0.0), x, is_near);
    let s = a / (2.0 + a);
    let square = s * s;
    var p = vec4<f32>(0.222222222);
    p = fma(p, square, vec4<f32>(0.285714286));
    p = fma(p, square, vec4<f32>(0.4));
    p = fma(p, square, vec4<f32>(0.666666667));
    let near = fma(p, s * square, 2.0 * s);
    let value = select(log_of(1.0 + x), near, is_near);
    return keep_nan(x, select(value, x, abs(x) < vec4<f32>(5.9604645e-8))); // 2^-24: x is next to the result, also if it is 0
}
