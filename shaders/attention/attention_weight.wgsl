//! The weight of a score: `weight(score, lse)`, where `lse` is the logarithm of the row's sum of exponentials.

// A weight is at most 1, and NaN stays NaN.
fn weight(score: vec4<f32>, lse: vec4<f32>) -> vec4<f32> {
    let distance = score - lse;
    return exp_of_negative(select(distance, vec4<f32>(0.0), distance > vec4<f32>(0.0)));
}
