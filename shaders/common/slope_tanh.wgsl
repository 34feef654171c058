//! The slope of tanh: 1 - tanh^2, which is 4 s (1 - s) with the sigmoid of twice v.

//#import math

fn slope(v: vec4<f32>) -> vec4<f32> {
    return 4.0 * sigmoid_of(2.0 * v) * sigmoid_of(-2.0 * v);
}
