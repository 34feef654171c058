//! Half of each of four values.

fn half_of(x: vec4<f32>) -> vec4<f32> {
    return 0.5 * x;
}
