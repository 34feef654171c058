//! The slope of max(v, 0): 0 at 0. NaN stays NaN.

//#import math

fn slope(v: vec4<f32>) -> vec4<f32> {
    return keep_nan(v, select(vec4<f32>(0.0), vec4<f32>(1.0), bitcast<vec4<i32>>(v) > vec4<i32>(0)));
}
