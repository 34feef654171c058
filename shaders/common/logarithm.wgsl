//! The natural logarithm and powers of four values, within 8 ulp of their definitions, also for subnormal operands.
//#import math
//#import comparisons

// ln x of a positive, finite x, in two parts. Their sum is within 2^-32 of it, relative to it; the first is exact in its bits.
struct Logarithm {
    high: vec4<f32>,
    low: vec4<f32>, // at most a fiftieth of the first
}

// The upper 12 bits of a significand. The product of two such numbers is exact.
fn upper_bits(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) & vec4<u32>(0xfffff000u));
}

// The entry for a number of eighths from 6 to 11: two values below 8, 0 at 8, three above.
fn entry_of_eighths(eighths: vec4<f32>, below: vec2<f32>, above: vec3<f32>) -> vec4<f32> {
    var value = select(vec4<f32>(below.x), vec4<f32>(below.y), eighths > vec4<f32>(6.5));
    value = select(value, vec4<f32>(0.0), eighths > vec4<f32>(7.5));
    value = select(value, vec4<f32>(above.x), eighths > vec4<f32>(8.5));
    value = select(value, vec4<f32>(above.y), eighths > vec4<f32>(9.5));
    return select(value, vec4<f32>(above.z), eighths > vec4<f32>(10.5));
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
    // z = c (1 + f / c) with c in eighths, so that f is exact and small: ln z = ln c + 2 artanh(s) with s = f / (2 c + f), which
    // is 2 s + 2/3 s^3 + 2/5 s^5 + ..
    let eighths = round(z * 8.0);
    let c2 = 0.25 * eighths;
    let f = z - 0.125 * eighths;
    let s = f / (f + c2);
    // The upper part of s has few bits. If e ln 2 + ln c is not 0, it is a multiple of 2^-16, so that its sum with that is exact.
    let is_near_one = (e == vec4<i32>(0)) & (abs(eighths - 8.0) < vec4<f32>(0.5));
    let upper = select(round(s * 65536.0) * 1.52587890625e-5, upper_bits(s), is_near_one);
    // The rest: (f - upper (2 c + f)) / (2 c + f), from exact products.
    let f_upper = upper_bits(f);
    let left = ((f - c2 * upper) - upper * f_upper) - upper * (f - f_upper);
    let lower = left / (f + c2);
    let all = upper + lower;
    let square = all * all;
    var p = vec4<f32>(0.285714286);
    p = fma(p, square, vec4<f32>(0.4));
    p = fma(p, square, vec4<f32>(0.666666667));
    // ln c and ln 2 in two parts, as in `exp_of_sum`; those of ln c are multiples of 2^-15, and the rest.
    let c_high = entry_of_eighths(eighths, vec2<f32>(-0.28768921, -0.133544922), vec3<f32>(0.117797852, 0.223144531, 0.318450928));
    let c_low = entry_of_eighths(eighths, vec2<f32>(7.13653253e-6, 1.35292503e-5), vec3<f32>(-1.48159061e-5, -9.79935749e-7, 2.80338418e-6));
    let n = vec4<f32>(e);
    let high = fma(n, vec4<f32>(0.693359375), 2.0 * upper + c_high);
    let low = fma(p, all * square, fma(n, vec4<f32>(-2.12194440e-4), 2.0 * lower + c_low));
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

// The bits of e^(x + low) for sums from -89 to 89, where x is an exact product and low at most a hundredth: within an ulp, and
// exact if f32 represents the power; infinity if it overflows, 0 if it is below the smallest normal number.
fn bits_of_power(x: vec4<f32>, low: vec4<f32>) -> vec4<u32> {
    let n = round((x + low) * 1.44269504);
    let first = fma(n, MINUS_LN_2, x); // exact
    let second = fma(n, vec4<f32>(2.12194440e-4), low);
    // r = first + second is at most half of ln 2 away from 0. It is a sum of 64ths and a rest, so that 1 + r + r^2 / 2 of the 64ths
    // is exact, and the other terms are small.
    let coarse = round((first + second) * 64.0) * 0.015625;
    let fine = (first - coarse) + second;
    let r = coarse + fine;
    let square = r * r;
    let odd = fma(r, vec4<f32>(4.1666463e-2), vec4<f32>(0.166666672));
    let even = fma(r, vec4<f32>(1.39339e-3), vec4<f32>(8.33331048e-3));
    let cubes = fma(fma(vec4<f32>(1.9891269e-4), square, even), square, odd) * (square * r);
    let small = fine + fma(fine, fma(vec4<f32>(0.5), fine, coarse), cubes);
    let p = fma(0.5 * coarse, coarse, 1.0 + coarse) + small;
    // As in `bits_of_exp`. Past both ends the sum leaves the bits of positive numbers.
    let bits = bitcast<vec4<u32>>(p) + (bitcast<vec4<u32>>(n + 12582912.0) << vec4<u32>(23u));
    let normal = select(vec4<u32>(0u), bits, bitcast<vec4<i32>>(bits) >= vec4<i32>(0x800000));
    return min(normal, vec4<u32>(0x7f800000u));
}

// x^y as IEEE's pow: 1 if y is 0 or x is 1; NaN if x is negative and y is no integer. It is within an ulp, so it is exact if f32
// represents the power, as for small integer powers of integers; x^1 has the bits of x.
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
    let is_small = is_less(abs(about), vec4<f32>(89.0));
    let exponent = select(vec4<f32>(0.0), y_upper * upper, is_small);
    let rest = select(vec4<f32>(0.0), fma(y_upper, lower, (y - y_upper) * (upper + lower)), is_small);
    let raised = bits_of_power(exponent, rest);
    // Beyond, and for x of 0 or infinity, the result is 0 or infinity.
    let grows = select(about > vec4<f32>(0.0), (magnitude == vec4<u32>(0u)) == (y < vec4<f32>(0.0)), !is_ordinary);
    let extreme = select(vec4<u32>(0u), vec4<u32>(0x7f800000u), grows);
    var value = select(raised, extreme, !is_small | !is_ordinary);
    value = select(value, magnitude, y == vec4<f32>(1.0));
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
