//! An activation of four values, `activate(v)`, and its derivative there, `slope(v)`.

//#variant none
// The activation that changes nothing.
fn activate(v: vec4<f32>) -> vec4<f32> {
    return v;
}

// The slope of the activation that changes nothing.
fn slope(v: vec4<f32>) -> vec4<f32> {
    return vec4<f32>(1.0);
}

//#variant relu
// max(v, 0). NaN stays NaN.
//#import math

fn activate(v: vec4<f32>) -> vec4<f32> {
    // By bits, as compilers may assume that there is no NaN: from -0 to minus infinity, whose NaNs are greater integers.
    return select(v, vec4<f32>(0.0), bitcast<vec4<i32>>(v) <= vec4<i32>(-0x800000));
}

// The slope of max(v, 0): 0 at 0. NaN stays NaN.
fn slope(v: vec4<f32>) -> vec4<f32> {
    return keep_nan(v, select(vec4<f32>(0.0), vec4<f32>(1.0), bitcast<vec4<i32>>(v) > vec4<i32>(0)));
}

//#variant gelu
// v times the normal distribution of v (Hendrycks and Gimpel, 2016); at minus infinity its limit, 0.
//#import math

fn activate(v: vec4<f32>) -> vec4<f32> {
    return max(v, vec4<f32>(-200.0)) * normal_of(v);
}

// The slope of v times the normal distribution of v: the distribution, and v times its density.
fn slope(v: vec4<f32>) -> vec4<f32> {
    let w = clamp(v, vec4<f32>(-15.0), vec4<f32>(15.0)); // where the density is zero
    let density = 0.398942280 * exp_of_sum(-0.5 * w * w, vec4<f32>(0.0));
    return keep_nan(v, fma(w, density, normal_of(v)));
}

//#variant gelu_tanh
// v (1 + tanh(sqrt(2 / pi) (v + 0.044715 v^3))) / 2, which is v sigmoid of twice tanh's argument; at minus infinity
// its limit, 0.
//#import math

fn activate(v: vec4<f32>) -> vec4<f32> {
    // Beyond 20 the sigmoid is 0 or 1, and the cube of more may overflow. NaN may not survive this, but does in v.
    let w = clamp(v, vec4<f32>(-20.0), vec4<f32>(20.0));
    let twice = w * fma(w * w, vec4<f32>(0.0713548163), vec4<f32>(1.59576912));
    return keep_nan(v, max(v, vec4<f32>(-200.0)) * sigmoid_of(twice));
}

// The slope of v sigmoid(w) with w = 2 sqrt(2 / pi) (v + 0.044715 v^3): s + v s (1 - s) w'.
fn slope(v: vec4<f32>) -> vec4<f32> {
    // Beyond 20 the sigmoid is 0 or 1, and the cube of more may overflow.
    let u = clamp(v, vec4<f32>(-20.0), vec4<f32>(20.0));
    let square = u * u;
    let w = u * fma(square, vec4<f32>(0.0713548163), vec4<f32>(1.59576912));
    let rises = fma(square, vec4<f32>(0.214064449), vec4<f32>(1.59576912));
    return keep_nan(v, sigmoid_of(w) * fma(u * sigmoid_of(-w), rises, vec4<f32>(1.0)));
}

//#variant silu
// v times the sigmoid of v; at minus infinity its limit, 0.
//#import math

fn activate(v: vec4<f32>) -> vec4<f32> {
    return max(v, vec4<f32>(-200.0)) * sigmoid_of(v);
}

// The slope of v times the sigmoid of v: s + v s (1 - s).
fn slope(v: vec4<f32>) -> vec4<f32> {
    let u = clamp(v, vec4<f32>(-200.0), vec4<f32>(200.0)); // where it is 0 or 1: infinity times 0 is neither
    return keep_nan(v, sigmoid_of(u) * fma(u, sigmoid_of(-u), vec4<f32>(1.0)));
}

//#variant sigmoid
// The logistic sigmoid, 1 / (1 + e^-v).
//#import math

fn activate(v: vec4<f32>) -> vec4<f32> {
    return sigmoid_of(v);
}

// The slope of the sigmoid: s (1 - s), of which 1 - s is the sigmoid of -v and never a difference.
fn slope(v: vec4<f32>) -> vec4<f32> {
    return sigmoid_of(v) * sigmoid_of(-v);
}

//#variant tanh
// The hyperbolic tangent.
//#import math

fn activate(v: vec4<f32>) -> vec4<f32> {
    return tanh_of(v);
}

// The slope of tanh: 1 - tanh^2, which is 4 s (1 - s) with the sigmoid of twice v.
fn slope(v: vec4<f32>) -> vec4<f32> {
    return 4.0 * sigmoid_of(2.0 * v) * sigmoid_of(-2.0 * v);
}
