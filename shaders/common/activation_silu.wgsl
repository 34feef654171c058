//! v times the sigmoid of v; at minus infinity its limit, 0.

//#import math

fn activate(v: vec4<f32>) -> vec4<f32> {
    return max(v, vec4<f32>(-200.0)) * sigmoid_of(v);
}
