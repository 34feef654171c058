//! The statistics of a row for the backward pass: `known_of(most, total)`, the largest score and the logarithm of the sum of
//! exponentials of distances to it. Both are minus infinity for a row without keys, whose sum is 0.
//#import logarithm

fn known_of(most: f32, total: f32) -> vec2<f32> {
    let numbers = bitcast<vec2<u32>>(vec2<f32>(most, log_of(vec4<f32>(total)).x));
    return bitcast<vec2<f32>>(select(numbers, vec2<u32>(0xff800000u), vec2<bool>(total == 0.0)));
}
