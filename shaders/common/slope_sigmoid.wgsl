//! The slope of the sigmoid: s (1 - s), of which 1 - s is the sigmoid of -v and never a difference.

//#import math

fn slope(v: vec4<f32>) -> vec4<f32> {
    return sigmoid_of(v) * sigmoid_of(-v);
}
