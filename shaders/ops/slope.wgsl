//! The derivative of an activation at four values: `slope(v)`.

//#variant none
// The slope of the activation that changes nothing.
fn slope(v: vec4<f32>) -> vec4<f32> {
    return vec4<f32>(1.0);
}

//#variant relu
// The slope of max(v, 0): 0 at 0. NaN stays NaN.
//#import math

fn slope(v: vec4<f32>) -> vec4<f32> {
    return keep_nan(v, select(vec4<f32>(0.0), vec4<f32>(1.0), bitcast<vec4<i32>>(v) > vec4<i32>(0)));
}

//#variant gelu
// The slope of v times the normal distribution of v: the distribution, and v times its density.
//#import math

fn slope(v: vec4<f32>) -> vec4<f32> {
    let w = clamp(v, vec4<f32>(-15.0), vec4<f32>(15.0)); // where the density is zero
    let density = 0.398942280 * exp_of_sum(-0.5 * w * w, vec4<f32>(0.0));
    return keep_nan(v, fma(w, density, normal_of(v)));
}

//#variant gelu_tanh
// The slope of v sigmoid(w) with w = 2 sqrt(2 / pi) (v + 0.044715 v^3): s + v s (1 - s) w'.
//#import math

fn slope(v: vec4<f32>) -> vec4<f32> {
    // Beyond 20 the sigmoid is 0 or 1, and the cube of more may overflow.
    let u = clamp(v, vec4<f32>(-20.0), vec4<f32>(20.0));
    let square = u * u;
    let w = u * fma(square, vec4<f32>(0.0713548163), vec4<f32>(1.59576912));
    let rises = fma(square, vec4<f32>(0.214064449), vec4<f32>(1.59576912));
    return keep_nan(v, sigmoid_of(w) * fma(u * sigmoid_of(-w), rises, vec4<f32>(1.0)));
}

//#variant silu
// The slope of v times the sigmoid of v: s + v s (1 - s).
//#import math

fn slope(v: vec4<f32>) -> vec4<f32> {
    let u = clamp(v, vec4<f32>(-200.0), vec4<f32>(200.0)); // where it is 0 or 1: infinity times 0 is neither
    return keep_nan(v, sigmoid_of(u) * fma(u, sigmoid_of(-u), vec4<f32>(1.0)));
}

//#variant sigmoid
// The slope of the sigmoid: s (1 - s), of which 1 - s is the sigmoid of -v and never a difference.
//#import math

fn slope(v: vec4<f32>) -> vec4<f32> {
    return sigmoid_of(v) * sigmoid_of(-v);
}

//#variant tanh
// The slope of tanh: 1 - tanh^2, which is 4 s (1 - s) with the sigmoid of twice v.
//#import math

fn slope(v: vec4<f32>) -> vec4<f32> {
    return 4.0 * sigmoid_of(2.0 * v) * sigmoid_of(-2.0 * v);
}
