//! Comparisons, the smaller and the larger of two values, and quotients, with the results of IEEE 754 for NaN, infinity
//! and zero. Compilers may assume that there is no NaN and no infinity, so these test bits.
//#import math

fn is_nan(x: vec4<f32>) -> vec4<bool> {
    return (bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
}

fn is_equal(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return (a == b) & !(is_nan(a) | is_nan(b));
}

fn is_less(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return (a < b) & !(is_nan(a) | is_nan(b));
}

fn is_at_most(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return (a <= b) & !(is_nan(a) | is_nan(b));
}

// The smaller value; NaN if either is NaN.
fn minimum_of(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return keep_nan(a, keep_nan(b, min(a, b)));
}

// The larger value; NaN if either is NaN.
fn maximum_of(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return keep_nan(a, keep_nan(b, max(a, b)));
}

// -1, 0 or 1; NaN stays NaN.
fn sign_of(x: vec4<f32>) -> vec4<f32> {
    return keep_nan(x, sign(x));
}

// a / b. A number divided by 0 is infinite, and 0 / 0 is NaN. The built-in promises nothing if b is above 2^126.
fn divided(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let b_bits = bitcast<vec4<u32>>(b);
    let magnitude = b_bits & vec4<u32>(0x7fffffffu);
    let scale = select(vec4<f32>(1.0), vec4<f32>(0.25), magnitude > vec4<u32>(0x7e000000u)); // 2^125
    let quotient = bitcast<vec4<u32>>((a * scale) / (b * scale));
    let a_bits = bitcast<vec4<u32>>(a);
    let is_undefined = (a_bits & vec4<u32>(0x7fffffffu)) == vec4<u32>(0u);
    let at_zero = select(((a_bits ^ b_bits) & vec4<u32>(0x80000000u)) | vec4<u32>(0x7f800000u), vec4<u32>(0x7fc00000u), is_undefined);
    let value = bitcast<vec4<f32>>(select(quotient, at_zero, magnitude == vec4<u32>(0u)));
    return keep_nan(a, keep_nan(b, value));
}

fn is_different(a: vec4<f32>, b: vec4<f32>) -> vec4<bool> {
    return (a != b) | is_nan(a) | is_nan(b);
}

fn either(a: vec4<bool>, b: vec4<bool>) -> vec4<bool> {
    return a | b;
}

fn inverted(a: vec4<bool>) -> vec4<bool> {
    return !a;
}

// x, limited to the range.
fn clamped(x: vec4<f32>, lowest: vec4<f32>, highest: vec4<f32>) -> vec4<f32> {
    return minimum_of(maximum_of(x, lowest), highest);
}

// Whether integers differ from 0.
fn is_set(x: vec4<i32>) -> vec4<bool> {
    return x != vec4<i32>(0);
}

// 1 where a mask is set, and 0 elsewhere.
fn one_or_zero(mask: vec4<bool>) -> vec4<i32> {
    return select(vec4<i32>(0), vec4<i32>(1), mask);
}
