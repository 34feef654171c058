//! The sum of two operands.

fn combine(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return a + b;
}
