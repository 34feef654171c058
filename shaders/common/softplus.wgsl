//! ln(1 + e^x) of four values, within 8 ulp of its definition; NaN stays NaN.
//#import math

// ln(1 + e^-|x|).
fn softplus_rest(x: vec4<f32>) -> vec4<f32> {
    // ln(1 + e) = 2 artanh(s) = 2 s + 2/3 s^3 + .., with s = e / (2 + e), at most a third.
    let e = exp_of_sum(-abs(x), vec4<f32>(0.0));
    let s = e / (e + 2.0);
    let square = s * s;
    var p = vec4<f32>(0.232243285);
    p = fma(p, square, vec4<f32>(0.217065766));
    p = fma(p, square, vec4<f32>(0.28592357));
    p = fma(p, square, vec4<f32>(0.399997056));
    p = fma(p, square, vec4<f32>(0.666666687));
    return fma(p, s * square, 2.0 * s);
}

fn softplus_of(x: vec4<f32>) -> vec4<f32> {
    return keep_nan(x, max(x, vec4<f32>(0.0)) + softplus_rest(x));
}
