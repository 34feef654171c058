//! max(v, 0). NaN stays NaN.

fn activate(v: vec4<f32>) -> vec4<f32> {
    // By bits, as compilers may assume that there is no NaN: from -0 to minus infinity, whose NaNs are greater integers.
    return select(v, vec4<f32>(0.0), bitcast<vec4<i32>>(v) <= vec4<i32>(-0x800000));
}
