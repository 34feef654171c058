//! The slope of the activation that changes nothing.

fn slope(v: vec4<f32>) -> vec4<f32> {
    return vec4<f32>(1.0);
}
