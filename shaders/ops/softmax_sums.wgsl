//! The state of some elements of a row: the largest, and the sum of the exponentials of the distances to it.
//#import math

// The lowest f32. A row without a larger element has no sum and becomes NaN.
const LOWEST: vec4<f32> = vec4<f32>(-3.4028234663852886e38);
const NO_SUMS: vec2<f32> = vec2<f32>(-3.4028234663852886e38, 0.0);

// The sum of x for distances to `top`.
fn rescaled(x: vec2<f32>, top: f32) -> f32 {
    return x.y * exp_of_negative(vec4<f32>(x.x - top)).x;
}

// The joined states x and y of two sets of elements.
fn joined_sums(x: vec2<f32>, y: vec2<f32>) -> vec2<f32> {
    let top = max(x.x, y.x);
    let factors = exp_of_negative(vec4<f32>(x.x - top, y.x - top, 0.0, 0.0));
    return vec2<f32>(top, x.y * factors.x + y.y * factors.y);
}

// The values, or NaN where a sum is 0. Compilers may assume that nothing is divided by zero.
fn or_nan(v: vec4<f32>, sums: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(select(bitcast<vec4<u32>>(v), vec4<u32>(0x7fc00000u), sums == vec4<f32>(0.0)));
}

// The values within a row, and minus infinity in place of the others, so that their exponentials are 0.
fn or_lowest(v: vec4<f32>, is_within: vec4<bool>) -> vec4<f32> {
    return bitcast<vec4<f32>>(select(vec4<u32>(0xff800000u), bitcast<vec4<u32>>(v), is_within));
}
