//! The slope of v times the sigmoid of v: s + v s (1 - s).

//#import math

fn slope(v: vec4<f32>) -> vec4<f32> {
    let u = clamp(v, vec4<f32>(-200.0), vec4<f32>(200.0)); // where it is 0 or 1: infinity times 0 is neither
    return keep_nan(v, sigmoid_of(u) * fma(u, sigmoid_of(-u), vec4<f32>(1.0)));
}
