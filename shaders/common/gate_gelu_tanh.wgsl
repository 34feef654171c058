//! What operands of a layer's product are multiplied by, of their scalar parts: (1 + tanh(sqrt(2 / pi) (s + 0.044715 s^3))) / 2,
//! which is the sigmoid of twice tanh's argument.

//#import math

fn gate(s: vec4<f32>) -> vec4<f32> {
    // Beyond 20 the sigmoid is 0 or 1, and the cube of more may overflow. NaN may not survive this, but does in s.
    let w = clamp(s, vec4<f32>(-20.0), vec4<f32>(20.0));
    return keep_nan(s, sigmoid_of(w * fma(w * w, vec4<f32>(0.0713548163), vec4<f32>(1.59576912))));
}

fn gate_slope(s: vec4<f32>) -> vec4<f32> {
    let u = clamp(s, vec4<f32>(-20.0), vec4<f32>(20.0));
    let square = u * u;
    let w = u * fma(square, vec4<f32>(0.0713548163), vec4<f32>(1.59576912));
    let rises = fma(square, vec4<f32>(0.214064449), vec4<f32>(1.59576912));
    return keep_nan(s, sigmoid_of(w) * sigmoid_of(-w) * rises);
}
