//! The natural logarithm and powers of four values, within 8 ulp of their definitions, also for subnormal operands.
//#import math
//#import comparisons

// ln x of a positive, finite x, in two parts. Their sum is within 2^-28 of it, relative to it; the first is exact in its bits.
struct Logarithm {
    high: vec4<f32>,
    low: vec4<f32>, // at most a fiftieth of the first
}

// The upper 12 bits of a significand. The product of two such numbers is exact.
fn upper_bits(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) & vec4<u32>(0xfffff000u));
}

fn logarithm_of(x: vec4<f32>) -> Logarithm {
    // Subnormals are shifted as integers, since floats may be flushed to zero.
    let bits = bitcast<vec4<u32>>(x);
    let missing = vec4<u32>(23u) - min(firstLeadingBit(bits | vec4<u32>(1u)), vec4<u32>(23u));
    let shift = select(vec4<u32>(0u), missing, bits < vec4<u32>(0x800000u));
    // x = 2^e z with z between the roots of 1/2 and 2.
    let adjusted = (bits << shift) - vec4<u32>(0x3f3504f3u);
    let e = (bitcast<vec4<i32>>(adjusted) >> vec4<u32>(23u)) - vec4<i32>(shift);
    let z = bitcast<vec4<f32>>((adjusted & vec4<u32>(0x7fffffu)) + vec4<u32>(0x3f3504f3u));
    // ln(1 + f) = 2 artanh(s) = 2 s + 2/3 s^3 + 2/5 s^5 + .., with s = f / (2 + f).
    let f = z - 1.0;
    let s = f / (f + 2.0);
    // The upper part of s has few bits. If e is not 0, it is a multiple of 2^-13, so that its sum with e ln 2 is exact.
    let upper = select(upper_bits(s), round(s * 8192.0) * 1.220703125e-4, e != vec4<i32>(0));
    // What is missing: (f - upper (2 + f)) / (2 + f), of exact products.
    let f_upper = upper_bits(f);
    let left = ((f - 2.0 * upper) - upper * f_upper) - upper * (f - f_upper);
    let lower = left / (f + 2.0);
    let all = upper + lower;
    let square = all * all;
    var p = vec4<f32>(0.181818182);
    p = fma(p, square, vec4<f32>(0.222222222));
    p = fma(p, square, vec4<f32>(0.285714286));
    p = fma(p, square, vec4<f32>(0.4));
    p = fma(p, square, vec4<f32>(0.666666667));
    // ln 2 in two parts, as in `exp_of_sum`.
    let n = vec4<f32>(e);
    let high = fma(n, vec4<f32>(0.693359375), 2.0 * upper);
    let low = fma(p, all * square, fma(n, vec4<f32>(-2.12194440e-4), 2.0 * lower));
    return Logarithm(high, low);
}

// ln x: minus infinity at 0, NaN below.
fn log_of(x: vec4<f32>) -> vec4<f32> {
    let parts = logarithm_of(x);
    let bits = bitcast<vec4<u32>>(x);
    let magnitude = bits & vec4<u32>(0x7fffffffu);
    var value = bitcast<vec4<u32>>(parts.high + parts.low);
    value = select(value, bits, magnitude == vec4<u32>(0x7f800000u));
    value = select(value, vec4<u32>(0x7fc00000u), bits > vec4<u32>(0x80000000u));
    value = select(value, vec4<u32>(0xff800000u), magnitude == vec4<u32>(0u));
    return keep_nan(x, bitcast<vec4<f32>>(value));
}

// x^y as IEEE's pow: 1 if y is 0 or x is 1; NaN if x is negative and y is no integer.
fn power_of(x: vec4<f32>, y: vec4<f32>) -> vec4<f32> {
    let magnitude = bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu);
    let size = bitcast<vec4<f32>>(magnitude);
    // y ln |x| as a sum of an exact product and a small rest.
    let is_ordinary = (magnitude > vec4<u32>(0u)) & (magnitude < vec4<u32>(0x7f800000u));
    let parts = logarithm_of(select(vec4<f32>(1.0), size, is_ordinary));
    let upper = upper_bits(parts.high + parts.low);
    let lower = (parts.high - upper) + parts.low;
    let y_upper = upper_bits(y);
    let about = y * (upper + lower);
    let is_small = is_less(abs(about), vec4<f32>(150.0));
    let exponent = select(vec4<f32>(0.0), y_upper * upper, is_small);
    let rest = select(vec4<f32>(0.0), fma(y_upper, lower, (y - y_upper) * (upper + lower)), is_small);
    let raised = exp_of_sum(exponent, rest);
    // Beyond, and for x of 0 or infinity, the result is 0 or infinity.
    let grows = select(about > vec4<f32>(0.0), (magnitude == vec4<u32>(0u)) == (y < vec4<f32>(0.0)), !is_ordinary);
    let overflows = is_small & (bitcast<vec4<i32>>(exponent + rest) > vec4<i32>(0x42b17217));
    let is_far = !is_small | !is_ordinary | overflows;
    let extreme = select(vec4<u32>(0u), vec4<u32>(0x7f800000u), grows | overflows);
    var value = select(bitcast<vec4<u32>>(raised), extreme, is_far);
    let is_one = (magnitude == vec4<u32>(0x3f800000u)) | (y == vec4<f32>(0.0));
    value = select(value, vec4<u32>(0x3f800000u), is_one);
    // The sign. Numbers from 2^24 on, and infinity, are even.
    let is_negative = bitcast<vec4<u32>>(x) > vec4<u32>(0x7fffffffu);
    let is_odd = floor(y * 0.5) * 2.0 != floor(y);
    let is_whole = floor(y) == y;
    value = select(value, value | vec4<u32>(0x80000000u), is_negative & is_odd & is_whole);
    let is_undefined = is_negative & !is_whole & is_ordinary;
    value = select(value, vec4<u32>(0x7fc00000u), is_undefined);
    let result = keep_nan(x, keep_nan(y, bitcast<vec4<f32>>(value)));
    return select(result, vec4<f32>(1.0), (x == vec4<f32>(1.0)) | (y == vec4<f32>(0.0)));
}
