//! Conversions of four values between f32 and i32, rounded as casts round them.
//#import numbers

// Integers as reals, rounded to the nearest, ties to even.
fn real_of(x: vec4<i32>) -> vec4<f32> {
    let bits = bitcast<vec4<u32>>(x);
    return bitcast<vec4<f32>>(vec4<u32>(to_real(bits.x), to_real(bits.y), to_real(bits.z), to_real(bits.w)));
}

// Reals as integers, truncated and saturated; NaN becomes 0.
fn integer_of(x: vec4<f32>) -> vec4<i32> {
    let bits = bitcast<vec4<u32>>(x);
    return bitcast<vec4<i32>>(vec4<u32>(to_integer(bits.x), to_integer(bits.y), to_integer(bits.z), to_integer(bits.w)));
}
