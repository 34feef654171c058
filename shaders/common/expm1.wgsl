//! e^x - 1 of four values, within 8 ulp of its definition, also near 0.
//#import math

fn expm1_of(x: vec4<f32>) -> vec4<f32> {
    // e^x = 2^n e^r. Below -20 the result is -1.
    let a = clamp(x, vec4<f32>(-20.0), vec4<f32>(20.0));
    let n = round(a * 1.44269504);
    let whole = bitcast<vec4<i32>>(n + 12582912.0) - vec4<i32>(0x4b400000); // n, as in `bits_of_exp`
    // Drivers join two products of n with constants, whose sum then loses digits (Mesa). They do not see that this is n, too.
    let r = fma(vec4<f32>(whole), vec4<f32>(2.12194440e-4), fma(n, MINUS_LN_2, a));
    // e^r - 1, as in `exp_of_rest`.
    let square = r * r;
    let first = fma(r, vec4<f32>(0.166666672), vec4<f32>(0.5));
    let second = fma(r, vec4<f32>(8.33331048e-3), vec4<f32>(4.1666463e-2));
    let third = fma(r, vec4<f32>(1.9891269e-4), vec4<f32>(1.39339e-3));
    let p = fma(fma(fma(third, square, second), square, first), square, r);
    let power = bitcast<vec4<f32>>((whole + vec4<i32>(127)) << vec4<u32>(23u));
    var value = fma(power, p, power - 1.0);
    value = select(value, exp_of(x), x > vec4<f32>(18.0)); // the 1 is less than half an ulp
    return keep_nan(x, select(value, x, abs(x) < vec4<f32>(5.9604645e-8))); // 2^-24: x is next to the result, also if it is 0
}
