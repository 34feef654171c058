//! The gradient of a softmax, from the result y and its gradient g: `gradient_of(y, g, total)`, where `total` is the sum of
//! `term_of(y, g)` over the row.

//#variant probabilities
// y (g - sum of g y).
fn term_of(y: vec4<f32>, g: vec4<f32>) -> vec4<f32> {
    return y * g;
}

fn gradient_of(y: vec4<f32>, g: vec4<f32>, total: vec4<f32>) -> vec4<f32> {
    return y * (g - total);
}

//#variant logarithms
// g - e^y times the sum of g.
//#import math

fn term_of(y: vec4<f32>, g: vec4<f32>) -> vec4<f32> {
    return g;
}

fn gradient_of(y: vec4<f32>, g: vec4<f32>, total: vec4<f32>) -> vec4<f32> {
    return g - exp_of(y) * total;
}
