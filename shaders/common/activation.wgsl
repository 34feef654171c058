//! An activation of four values, `activate(v)`, and its derivative, `slope(v)`.

//#variant none
// The identity.
fn activate(v: vec4<f32>) -> vec4<f32> {
    return v;
}

// The derivative of the identity.
fn slope(v: vec4<f32>) -> vec4<f32> {
    return vec4<f32>(1.0);
}

//#variant relu
// max(v, 0). NaN stays NaN.
//#import math

fn activate(v: vec4<f32>) -> vec4<f32> {
    // The comparison is on bits, because compilers may assume that there is no NaN: it selects -0 down to minus infinity, and
    // the NaNs with a sign are greater integers.
    return select(v, vec4<f32>(0.0), bitcast<vec4<i32>>(v) <= vec4<i32>(-0x800000));
}

// The derivative of max(v, 0): 0 at 0. NaN stays NaN.
fn slope(v: vec4<f32>) -> vec4<f32> {
    return keep_nan(v, select(vec4<f32>(0.0), vec4<f32>(1.0), bitcast<vec4<i32>>(v) > vec4<i32>(0)));
}

//#variant gelu
// v times the normal distribution function of v (Hendrycks and Gimpel, 2016); 0, its limit, at minus infinity.
//#import math

fn activate(v: vec4<f32>) -> vec4<f32> {
    return max(v, vec4<f32>(-200.0)) * normal_of(v);
}

// The derivative of v times the normal distribution function: the function, plus v times the density.
fn slope(v: vec4<f32>) -> vec4<f32> {
    let w = clamp(v, vec4<f32>(-15.0), vec4<f32>(15.0)); // beyond, the density is zero
    let density = 0.398942280 * exp_of_sum(-0.5 * w * w, vec4<f32>(0.0));
    return keep_nan(v, fma(w, density, normal_of(v)));
}

//#variant gelu_tanh
// v (1 + tanh(sqrt(2 / pi) (v + 0.044715 v^3))) / 2, computed as v times the sigmoid of twice tanh's argument; 0, its limit, at
// minus infinity.
//#import math

fn activate(v: vec4<f32>) -> vec4<f32> {
    // Beyond 20 the sigmoid is 0 or 1, and the cube may overflow. The clamp may drop a NaN; `keep_nan` restores it from v.
    let w = clamp(v, vec4<f32>(-20.0), vec4<f32>(20.0));
    let twice = w * fma(w * w, vec4<f32>(0.0713548163), vec4<f32>(1.59576912));
    return keep_nan(v, max(v, vec4<f32>(-200.0)) * sigmoid_of(twice));
}

// The derivative of v sigmoid(w) with w = 2 sqrt(2 / pi) (v + 0.044715 v^3): s + v s (1 - s) w'.
fn slope(v: vec4<f32>) -> vec4<f32> {
    // Beyond 20 the sigmoid is 0 or 1, and the cube may overflow.
    let u = clamp(v, vec4<f32>(-20.0), vec4<f32>(20.0));
    let square = u * u;
    let w = u * fma(square, vec4<f32>(0.0713548163), vec4<f32>(1.59576912));
    let rises = fma(square, vec4<f32>(0.214064449), vec4<f32>(1.59576912));
    return keep_nan(v, sigmoid_of(w) * fma(u * sigmoid_of(-w), rises, vec4<f32>(1.0)));
}

//#variant silu
// v times the sigmoid of v; 0, its limit, at minus infinity.
//#import math

fn activate(v: vec4<f32>) -> vec4<f32> {
    return max(v, vec4<f32>(-200.0)) * sigmoid_of(v);
}

// The derivative of v times the sigmoid of v: s + v s (1 - s).
fn slope(v: vec4<f32>) -> vec4<f32> {
    let u = clamp(v, vec4<f32>(-200.0), vec4<f32>(200.0)); // beyond, the sigmoid is 0 or 1, and infinity times 0 would be NaN
    return keep_nan(v, sigmoid_of(u) * fma(u, sigmoid_of(-u), vec4<f32>(1.0)));
}

//#variant sigmoid
// The logistic sigmoid, 1 / (1 + e^-v).
//#import math

fn activate(v: vec4<f32>) -> vec4<f32> {
    return sigmoid_of(v);
}

// The derivative of the sigmoid: s (1 - s), where 1 - s is computed as the sigmoid of -v, without cancellation.
fn slope(v: vec4<f32>) -> vec4<f32> {
    return sigmoid_of(v) * sigmoid_of(-v);
}

//#variant tanh
// The hyperbolic tangent.
//#import math

fn activate(v: vec4<f32>) -> vec4<f32> {
    return tanh_of(v);
}

// The derivative of tanh: 1 - tanh^2, computed as 4 s (1 - s) with the sigmoid of 2 v.
fn slope(v: vec4<f32>) -> vec4<f32> {
    return 4.0 * sigmoid_of(2.0 * v) * sigmoid_of(-2.0 * v);
}
