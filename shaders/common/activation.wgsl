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

//#variant softplus
// ln(1 + e^v).
//#import softplus

fn activate(v: vec4<f32>) -> vec4<f32> {
    return softplus_of(v);
}

// The derivative of ln(1 + e^v): the sigmoid.
fn slope(v: vec4<f32>) -> vec4<f32> {
    return sigmoid_of(v);
}

//#variant elu
// v if it is positive, otherwise e^v - 1.
//#import math

fn activate(v: vec4<f32>) -> vec4<f32> {
    // e^v - 1 = 2 t / (1 - t) with t = tanh(v / 2), without cancellation.
    let t = tanh_of(0.5 * min(v, vec4<f32>(0.0)));
    return keep_nan(v, select(2.0 * t / (1.0 - t), v, v > vec4<f32>(0.0)));
}

// The derivative: 1, or e^v. At 0 it is 1.
fn slope(v: vec4<f32>) -> vec4<f32> {
    return keep_nan(v, exp_of_sum(min(v, vec4<f32>(0.0)), vec4<f32>(0.0)));
}

//#variant leaky_relu
// v if it is positive, otherwise 0.01 v. NaN stays NaN.
//#import math

fn activate(v: vec4<f32>) -> vec4<f32> {
    // As in relu, the comparison is on bits.
    return select(0.01 * v, v, bitcast<vec4<i32>>(v) > vec4<i32>(0));
}

// The derivative: 1, or 0.01, as at 0. NaN stays NaN.
fn slope(v: vec4<f32>) -> vec4<f32> {
    return keep_nan(v, select(vec4<f32>(0.01), vec4<f32>(1.0), bitcast<vec4<i32>>(v) > vec4<i32>(0)));
}

//#variant mish
// v tanh(ln(1 + e^v)) (Misra, 2019); 0, its limit, at minus infinity.
//#import math

// tanh(ln(1 + e^v)) is the quotient of two polynomials in w = e^-|v|, without cancellation: (1 + 2 w) / (1 + 2 w + 2 w^2) if v
// is not negative, otherwise w (2 + w) / (2 + 2 w + w^2).
struct MishQuotient {
    w: vec4<f32>,
    above: vec4<f32>,
    below: vec4<f32>,
}

fn mish_quotient(v: vec4<f32>) -> MishQuotient {
    let w = exp_of_sum(-abs(v), vec4<f32>(0.0));
    let is_upper = v >= vec4<f32>(0.0);
    let above = select(w * (w + 2.0), fma(vec4<f32>(2.0), w, vec4<f32>(1.0)), is_upper);
    return MishQuotient(w, above, above + select(vec4<f32>(2.0), 2.0 * w * w, is_upper));
}

fn activate(v: vec4<f32>) -> vec4<f32> {
    let q = mish_quotient(v);
    return keep_nan(v, max(v, vec4<f32>(-200.0)) * (q.above / q.below));
}

// The derivative: tanh(s) + v (1 - tanh(s)^2) sigmoid(v) with s = ln(1 + e^v). With the quotient's denominator d, the factor of
// v is 4 w^2 (1 + w) / d^2 if v is not negative, otherwise 4 w (1 + w) / d^2.
fn slope(v: vec4<f32>) -> vec4<f32> {
    let u = clamp(v, vec4<f32>(-200.0), vec4<f32>(200.0)); // beyond, the exponential is 0
    let q = mish_quotient(u);
    let factor = 4.0 * q.w * (q.w + 1.0) * select(vec4<f32>(1.0), q.w, u >= vec4<f32>(0.0));
    return keep_nan(v, fma(u, factor / (q.below * q.below), q.above / q.below));
}

//#variant hardswish
// v min(max(v + 3, 0), 6) / 6 (Howard et al., 2019); 0 at minus infinity.
//#import math

fn activate(v: vec4<f32>) -> vec4<f32> {
    let factor = clamp(v + 3.0, vec4<f32>(0.0), vec4<f32>(6.0)) * 0.166666672;
    let value = select(max(v, vec4<f32>(-3.0)) * factor, v, v >= vec4<f32>(3.0));
    return keep_nan(v, value);
}

// The derivative: v / 3 + 1/2 between -3 and 3, 0 below and 1 above.
fn slope(v: vec4<f32>) -> vec4<f32> {
    let inner = fma(v, vec4<f32>(0.333333343), vec4<f32>(0.5));
    let upper = select(inner, vec4<f32>(1.0), v >= vec4<f32>(3.0));
    return keep_nan(v, select(upper, vec4<f32>(0.0), v <= vec4<f32>(-3.0)));
}

//#variant quick_gelu
// v times the sigmoid of 1.702 v; 0, its limit, at minus infinity.
//#import math

// The sigmoids of 1.702 |v| and of -1.702 |v|.
struct QuickSigmoids {
    upper: vec4<f32>,
    lower: vec4<f32>,
}

fn quick_sigmoids(v: vec4<f32>) -> QuickSigmoids {
    // 1.702 |v| in two parts: the product of the upper 12 bits of both is exact, and the rest is small.
    let a = min(abs(v), vec4<f32>(100.0)); // beyond, the lower one is 0
    let first = bitcast<vec4<f32>>(bitcast<vec4<u32>>(a) & vec4<u32>(0xfffff000u));
    let e = exp_of_sum(-1.7021484375 * first, fma(vec4<f32>(1.484375e-4), a, -1.7021484375 * (a - first)));
    let upper = 1.0 / (1.0 + e);
    return QuickSigmoids(upper, e * upper);
}

fn activate(v: vec4<f32>) -> vec4<f32> {
    let s = quick_sigmoids(v);
    return keep_nan(v, max(v, vec4<f32>(-200.0)) * select(s.lower, s.upper, v >= vec4<f32>(0.0)));
}

// The derivative: s + 1.702 v s (1 - s) with the sigmoid s of 1.702 v.
fn slope(v: vec4<f32>) -> vec4<f32> {
    let u = clamp(v, vec4<f32>(-100.0), vec4<f32>(100.0)); // beyond, one sigmoid is 0
    let s = quick_sigmoids(u);
    return keep_nan(v, fma(1.702 * u, s.upper * s.lower, select(s.lower, s.upper, u >= vec4<f32>(0.0))));
}
