//! The weight of a score: `weight(score, most, logarithm)`, where `most` is the largest score of the row and `logarithm` that of the
//! sum of exponentials of distances to it.

// A weight is at most 1, and NaN stays NaN. NOTE: the difference of scores comes first. One number could not hold the logarithm next to
// a large score: after a mask of -1e9 it would be lost, and with it the number of keys that share the weight.
fn weight(score: vec4<f32>, most: vec4<f32>, logarithm: vec4<f32>) -> vec4<f32> {
    let distance = (score - most) - logarithm;
    return exp_of_negative(select(distance, vec4<f32>(0.0), distance > vec4<f32>(0.0)));
}
