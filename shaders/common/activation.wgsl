//! An activation of four values: `activate(v)`.

//#variant none
// The activation that changes nothing.
fn activate(v: vec4<f32>) -> vec4<f32> {
    return v;
}

//#variant relu
// max(v, 0). NaN stays NaN.
fn activate(v: vec4<f32>) -> vec4<f32> {
    // By bits, as compilers may assume that there is no NaN: from -0 to minus infinity, whose NaNs are greater integers.
    return select(v, vec4<f32>(0.0), bitcast<vec4<i32>>(v) <= vec4<i32>(-0x800000));
}

//#variant gelu
// v times the normal distribution of v (Hendrycks and Gimpel, 2016); at minus infinity its limit, 0.
//#import math

fn activate(v: vec4<f32>) -> vec4<f32> {
    return max(v, vec4<f32>(-200.0)) * normal_of(v);
}

//#variant gelu_tanh
// v (1 + tanh(sqrt(2 / pi) (v + 0.044715 v^3))) / 2, which is v sigmoid of twice tanh's argument; at minus infinity
// its limit, 0.
//#import math

fn activate(v: vec4<f32>) -> vec4<f32> {
    // Beyond 20 the sigmoid is 0 or 1, and the cube of more may overflow. NaN may not survive this, but does in v.
    let w = clamp(v, vec4<f32>(-20.0), vec4<f32>(20.0));
    let twice = w * fma(w * w, vec4<f32>(0.0713548163), vec4<f32>(1.59576912));
    return keep_nan(v, max(v, vec4<f32>(-200.0)) * sigmoid_of(twice));
}

//#variant silu
// v times the sigmoid of v; at minus infinity its limit, 0.
//#import math

fn activate(v: vec4<f32>) -> vec4<f32> {
    return max(v, vec4<f32>(-200.0)) * sigmoid_of(v);
}

//#variant sigmoid
// The logistic sigmoid, 1 / (1 + e^-v).
//#import math

fn activate(v: vec4<f32>) -> vec4<f32> {
    return sigmoid_of(v);
}

//#variant tanh
// The hyperbolic tangent.
//#import math

fn activate(v: vec4<f32>) -> vec4<f32> {
    return tanh_of(v);
}
