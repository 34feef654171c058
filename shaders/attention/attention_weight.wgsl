//! The weight of a score: `weight(score, most, logarithm)`, where `most` is the largest score of the row and `logarithm` that of the
//! sum of exponentials of distances to it.

// A weight is at most 1, and NaN stays NaN. NOTE: the difference of scores comes first. The sum of the logarithm and a large score
// would lose the logarithm: after a mask of -1e9, the number of keys that share the weight would be lost.
fn weight(score: vec4<f32>, most: vec4<f32>, logarithm: vec4<f32>) -> vec4<f32> {
    let distance = (score - most) - logarithm;
    return exp_of_negative(select(distance, vec4<f32>(0.0), distance > vec4<f32>(0.0)));
}
