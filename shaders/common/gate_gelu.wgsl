//! What operands of a layer's product are multiplied by, of their scalar parts: the normal distribution, whose slope is its
//! density.

//#import math

fn gate(s: vec4<f32>) -> vec4<f32> {
    return normal_of(s);
}

fn gate_slope(s: vec4<f32>) -> vec4<f32> {
    let w = clamp(s, vec4<f32>(-15.0), vec4<f32>(15.0)); // where the density is zero
    return keep_nan(s, 0.398942280 * exp_of_sum(-0.5 * w * w, vec4<f32>(0.0)));
}
