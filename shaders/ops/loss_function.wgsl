//! A loss of four elements x with targets t and weights w, `loss_of(x, t, w)`, and its derivative with respect to x,
//! `slope_of(x, t, w)`.

//#variant mse
// (x - t)^2.
fn loss_of(x: vec4<f32>, t: vec4<f32>, weights: vec4<f32>) -> vec4<f32> {
    let d = x - t;
    return d * d;
}

fn slope_of(x: vec4<f32>, t: vec4<f32>, weights: vec4<f32>) -> vec4<f32> {
    return 2.0 * (x - t);
}

//#variant l1
// |x - t|. At 0 the derivative is 0.
//#import comparisons

fn loss_of(x: vec4<f32>, t: vec4<f32>, weights: vec4<f32>) -> vec4<f32> {
    return abs(x - t);
}

fn slope_of(x: vec4<f32>, t: vec4<f32>, weights: vec4<f32>) -> vec4<f32> {
    return sign_of(x - t);
}

//#variant huber
// d^2 / 2 with d = x - t if |d| is at most delta, otherwise delta (|d| - delta / 2).
//#import comparisons

fn loss_of(x: vec4<f32>, t: vec4<f32>, weights: vec4<f32>) -> vec4<f32> {
    let d = abs(x - t);
    return select(dims.delta * (d - 0.5 * dims.delta), 0.5 * d * d, d <= vec4<f32>(dims.delta));
}

fn slope_of(x: vec4<f32>, t: vec4<f32>, weights: vec4<f32>) -> vec4<f32> {
    return clamped(x - t, vec4<f32>(-dims.delta), vec4<f32>(dims.delta));
}

//#variant bce_with_logits
// (1 - t) ln(1 + e^x) + w t ln(1 + e^-x): the cross-entropy of the sigmoid of x, with a weight for t. Nothing cancels if t is from
// 0 to 1.
//#import softplus

fn loss_of(x: vec4<f32>, t: vec4<f32>, weights: vec4<f32>) -> vec4<f32> {
    let rest = softplus_rest(x);
    let upper = max(x, vec4<f32>(0.0)) + rest;
    let lower = max(-x, vec4<f32>(0.0)) + rest;
    return keep_nan(x, fma(1.0 - t, upper, weights * t * lower));
}

fn slope_of(x: vec4<f32>, t: vec4<f32>, weights: vec4<f32>) -> vec4<f32> {
    return (1.0 - t) * sigmoid_of(x) - weights * t * sigmoid_of(-x);
}
