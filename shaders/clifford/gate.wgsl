//! The gate of an operand in a layer's product, a factor that depends on its scalar part: `gate(s)`, and its derivative
//! `gate_slope(s)`, for four scalar parts at once.

//#variant none
// No functions: products without gates do not call them.

//#variant one
// No gate: the factor is 1.
fn gate(s: vec4<f32>) -> vec4<f32> {
    return vec4<f32>(1.0);
}

fn gate_slope(s: vec4<f32>) -> vec4<f32> {
    return vec4<f32>(0.0);
}

//#variant gelu
// The gate of GELU: the cumulative normal distribution, within 1.2e-7, and its derivative.
//#import math

// 1/2 + s P(s^2) / Q(s^2), a minimax fit within 6e-9 up to 5.4. Beyond that, the distribution is 0 or 1. A gate needs
// its tail only to the absolute accuracy of 1; `normal_of` computes the tail's digits too and takes longer.
fn gate(s: vec4<f32>) -> vec4<f32> {
    let w = clamp(s, vec4<f32>(-5.4), vec4<f32>(5.4));
    let q = w * w;
    var p = vec4<f32>(2.338655683e-8);
    p = fma(p, q, vec4<f32>(6.360026599e-6));
    p = fma(p, q, vec4<f32>(1.643235648e-4));
    p = fma(p, q, vec4<f32>(4.650862744e-3));
    p = fma(p, q, vec4<f32>(0.03337241829));
    p = fma(p, q, vec4<f32>(0.3989422454));
    var d = vec4<f32>(1.216586237e-6);
    d = fma(d, q, vec4<f32>(7.240074664e-5));
    d = fma(d, q, vec4<f32>(1.85899227e-3));
    d = fma(d, q, vec4<f32>(0.02837879573));
    d = fma(d, q, vec4<f32>(0.2503183362));
    d = fma(d, q, vec4<f32>(1.0));
    return max(fma(w, p / d, vec4<f32>(0.5)), vec4<f32>(0.0));
}

fn gate_slope(s: vec4<f32>) -> vec4<f32> {
    let w = clamp(s, vec4<f32>(-15.0), vec4<f32>(15.0)); // the density is zero there
    return 0.398942280 * exp_of_sum(-0.5 * w * w, vec4<f32>(0.0));
}

//#variant gelu_tanh
// The gate of GELU in the tanh approximation: (1 + tanh(sqrt(2 / pi) (s + 0.044715 s^3))) / 2, which is the sigmoid of
// twice the argument of tanh.
//#import math

fn gate(s: vec4<f32>) -> vec4<f32> {
    // Beyond 20, the sigmoid is 0 or 1, and the cube of larger numbers may overflow. clamp may lose NaN, so it is taken
    // from s.
    let w = clamp(s, vec4<f32>(-20.0), vec4<f32>(20.0));
    return keep_nan(s, sigmoid_of(w * fma(w * w, vec4<f32>(0.0713548163), vec4<f32>(1.59576912))));
}

fn gate_slope(s: vec4<f32>) -> vec4<f32> {
    let u = clamp(s, vec4<f32>(-20.0), vec4<f32>(20.0));
    let square = u * u;
    let w = u * fma(square, vec4<f32>(0.0713548163), vec4<f32>(1.59576912));
    let rises = fma(square, vec4<f32>(0.214064449), vec4<f32>(1.59576912));
    return keep_nan(s, sigmoid_of(w) * sigmoid_of(-w) * rises);
}
