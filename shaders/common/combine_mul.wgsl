//! The product of two operands, element by element.

fn combine(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return a * b;
}
