//! The slope of v sigmoid(w) with w = 2 sqrt(2 / pi) (v + 0.044715 v^3): s + v s (1 - s) w'.

//#import math

fn slope(v: vec4<f32>) -> vec4<f32> {
    // Beyond 20 the sigmoid is 0 or 1, and the cube of more may overflow.
    let u = clamp(v, vec4<f32>(-20.0), vec4<f32>(20.0));
    let square = u * u;
    let w = u * fma(square, vec4<f32>(0.0713548163), vec4<f32>(1.59576912));
    let rises = fma(square, vec4<f32>(0.214064449), vec4<f32>(1.59576912));
    return keep_nan(v, sigmoid_of(w) * fma(u * sigmoid_of(-w), rises, vec4<f32>(1.0)));
}
