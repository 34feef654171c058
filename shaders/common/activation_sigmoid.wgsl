//! The logistic sigmoid, 1 / (1 + e^-v).

//#import math

fn activate(v: vec4<f32>) -> vec4<f32> {
    return sigmoid_of(v);
}
