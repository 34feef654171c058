//! v (1 + tanh(sqrt(2 / pi) (v + 0.044715 v^3))) / 2, which is v sigmoid of twice tanh's argument; at minus infinity its
//! limit, 0.

//#import math

fn activate(v: vec4<f32>) -> vec4<f32> {
    // Beyond 20 the sigmoid is 0 or 1, and the cube of more may overflow. NaN may not survive this, but does in v.
    let w = clamp(v, vec4<f32>(-20.0), vec4<f32>(20.0));
    let twice = w * fma(w * w, vec4<f32>(0.0713548163), vec4<f32>(1.59576912));
    return keep_nan(v, max(v, vec4<f32>(-200.0)) * sigmoid_of(twice));
}
