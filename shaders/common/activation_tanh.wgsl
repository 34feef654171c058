//! The hyperbolic tangent.

//#import math

fn activate(v: vec4<f32>) -> vec4<f32> {
    return tanh_of(v);
}
