//! What becomes of four elements of two operands: `combine(a, b)`.

//#variant add
// The sum of two operands.
fn combine(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return a + b;
}

//#variant sub
// The difference of two operands.
fn combine(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return a - b;
}

//#variant mul
// The product of two operands, element by element.
fn combine(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return a * b;
}

//#variant slope
// The gradient that an activation hands back: b, the gradient of its result, times its slope at a.
//#slot slope default none

fn combine(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return slope(a) * b;
}
