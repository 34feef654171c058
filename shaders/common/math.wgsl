//! Functions of four values for which WGSL promises too little accuracy (exp, tanh), or which it lacks. Each is within 8 ulp of
//! its definition, except that subnormal results may be zero; NaN stays NaN.

// x if it is NaN, otherwise the value. Compilers may assume that there is no NaN and no infinity, so this tests bits.
fn keep_nan(x: vec4<f32>, value: vec4<f32>) -> vec4<f32> {
    let magnitude = bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu);
    return select(value, x, magnitude > vec4<u32>(0x7f800000u));
}

// Cody and Waite: ln 2 in two parts. The first has few bits, so that a whole number times it is exact, with or without fma.
const MINUS_LN_2: vec4<f32> = vec4<f32>(-0.693359375);

// e^r, where r is at most half of ln 2 away from 0.
fn exp_of_rest(r: vec4<f32>) -> vec4<f32> {
    // In pairs of independent terms.
    let square = r * r;
    let first = fma(r, vec4<f32>(0.166666672), vec4<f32>(0.5));
    let second = fma(r, vec4<f32>(8.33331048e-3), vec4<f32>(4.1666463e-2));
    let third = fma(r, vec4<f32>(1.9891269e-4), vec4<f32>(1.39339e-3));
    return fma(fma(fma(third, square, second), square, first), square, r) + 1.0;
}

// The bits of e^(x + low) for sums from -126 ln 2 to 89, where low is less than an ulp of x or two thousandths of it. The lowest
// bits of 1.5 * 2^23 + n are those of n: they are added to the exponent of e^r, and the higher bits are dropped.
fn bits_of_exp(x: vec4<f32>, low: vec4<f32>) -> vec4<u32> {
    let n = round((x + low) * 1.44269504);
    let p = exp_of_rest(fma(n, vec4<f32>(2.12194440e-4), fma(n, MINUS_LN_2, x) + low));
    return bitcast<vec4<u32>>(p) + (bitcast<vec4<u32>>(n + 12582912.0) << vec4<u32>(23u));
}

// e^(x + low) for x + low < 88.72, with such a low; 0 where it is below the smallest normal number.
fn exp_of_sum(x: vec4<f32>, low: vec4<f32>) -> vec4<f32> {
    let value = bits_of_exp(clamp(x, vec4<f32>(-88.0), vec4<f32>(89.0)), low);
    return bitcast<vec4<f32>>(select(vec4<u32>(0u), value, x + low >= vec4<f32>(-87.3365402))); // 126 ln 2
}

// e^x for x of at most 0; 0 where it is below the smallest normal number.
fn exp_of_negative(x: vec4<f32>) -> vec4<f32> {
    let value = bits_of_exp(max(x, vec4<f32>(-88.0)), vec4<f32>(0.0));
    let magnitude = bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu);
    let beyond = select(vec4<u32>(0u), bitcast<vec4<u32>>(x), magnitude > vec4<u32>(0x7f800000u)); // NaN stays NaN
    return bitcast<vec4<f32>>(select(value, beyond, magnitude > vec4<u32>(0x42aeac4fu))); // 126 ln 2
}

// e^x; infinity if it overflows, 0 where it is below the smallest normal number.
fn exp_of(x: vec4<f32>) -> vec4<f32> {
    let value = bits_of_exp(clamp(x, vec4<f32>(-88.0), vec4<f32>(89.0)), vec4<f32>(0.0));
    // Compared as integers: above 88.7228317, where negative floats are below; and below -126 ln 2, where positive ones are.
    let overflows = bitcast<vec4<i32>>(x) > vec4<i32>(0x42b17217);
    let vanishes = bitcast<vec4<u32>>(x) > vec4<u32>(0xc2aeac4fu);
    let normal = select(select(value, vec4<u32>(0x7f800000u), overflows), vec4<u32>(0u), vanishes);
    return keep_nan(x, bitcast<vec4<f32>>(normal));
}

fn tanh_of(x: vec4<f32>) -> vec4<f32> {
    let a = min(abs(x), vec4<f32>(10.0)); // beyond, tanh is 1
    let z = a * a;
    var p = vec4<f32>(-6.09671418e-3);
    p = fma(p, z, vec4<f32>(2.09971797e-2));
    p = fma(p, z, vec4<f32>(-5.38509078e-2));
    p = fma(p, z, vec4<f32>(0.133327693));
    p = fma(p, z, vec4<f32>(-0.333333284));
    let small = fma(p, z * a, a);
    let large = 1.0 - 2.0 / (exp_of_sum(2.0 * a, vec4<f32>(0.0)) + 1.0);
    let value = bitcast<vec4<u32>>(select(large, small, a < vec4<f32>(0.625)));
    let sign = bitcast<vec4<u32>>(x) & vec4<u32>(0x80000000u);
    return keep_nan(x, bitcast<vec4<f32>>(value | sign));
}

// 1 / (1 + e^-x).
fn sigmoid_of(x: vec4<f32>) -> vec4<f32> {
    let e = exp_of_sum(-abs(x), vec4<f32>(0.0)); // never more than 1
    let upper = 1.0 / (1.0 + e);
    return keep_nan(x, select(e * upper, upper, x >= vec4<f32>(0.0)));
}

// The normal distribution function: (1 + erf(x / sqrt 2)) / 2. The lower tail is computed directly, without cancellation.
fn normal_of(x: vec4<f32>) -> vec4<f32> {
    let a = min(abs(x), vec4<f32>(15.0)); // beyond, the tail is zero
    // The tail is e^(-a^2 / 2) P(q) / (a + 3), where P is a polynomial in q = (a - 3) / (a + 3).
    let d = a + 3.0;
    var s = 1.0 / d;
    s = fma(fma(-d, s, vec4<f32>(1.0)), s, s); // a division is within 2.5 ulp; one Newton iteration makes that 1 ulp
    let q = (a - 3.0) * s;
    var p = vec4<f32>(5.54918734e-5);
    p = fma(p, q, vec4<f32>(1.33323949e-4));
    p = fma(p, q, vec4<f32>(-2.44709314e-4));
    p = fma(p, q, vec4<f32>(-1.03447656e-3));
    p = fma(p, q, vec4<f32>(1.02415727e-3));
    p = fma(p, q, vec4<f32>(6.96992036e-3));
    p = fma(p, q, vec4<f32>(-1.04622887e-2));
    p = fma(p, q, vec4<f32>(-4.72627617e-2));
    p = fma(p, q, vec4<f32>(0.230017677));
    p = fma(p, q, vec4<f32>(-0.509332001));
    p = fma(p, q, vec4<f32>(0.729083717));
    // a^2 / 2 in two parts: the square of the upper 12 bits is exact, and the rest is small.
    let upper = bitcast<vec4<f32>>(bitcast<vec4<u32>>(a) & vec4<u32>(0xfffff000u));
    let tail = exp_of_sum(-0.5 * upper * upper, -0.5 * (a - upper) * (a + upper)) * (p * s);
    return keep_nan(x, select(tail, 1.0 - tail, x >= vec4<f32>(0.0)));
}
