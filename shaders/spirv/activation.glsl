// The activations of ops/activation.rs, as in common/activation.wgsl, and what they need of common/math.wgsl, for one value: within 8 ulp
// of their definitions, except that subnormal results may be zero; NaN stays NaN. The includer sets ACTIVATION.

// The places of Activation::ALL.
const uint RELU = 1;
const uint GELU = 2;
const uint GELU_TANH = 3;
const uint SILU = 4;
const uint SIGMOID = 5;
const uint TANH = 6;
const uint SOFTPLUS = 7;
const uint ELU = 8;
const uint LEAKY_RELU = 9;
const uint MISH = 10;
const uint HARDSWISH = 11;
const uint QUICK_GELU = 12;

// x if it is NaN, otherwise the value. Compilers may assume that there is no NaN and no infinity, so this tests bits.
float keep_nan(float x, float value) {
    return (floatBitsToUint(x) & 0x7fffffff) > 0x7f800000 ? x : value;
}

// e^(x + low) for x + low < 88.72, where low is less than an ulp of x or two thousandths of it; 0 where it is below the smallest normal
// number.
float exp_of_sum(float x, float low) {
    const float inside = clamp(x, -88.0, 89.0);
    const float n = roundEven((inside + low) * 1.44269504);
    // Cody and Waite: ln 2 in two parts.
    const float r = fma(n, 2.12194440e-4, fma(n, -0.693359375, inside) + low);
    const float square = r * r;
    const float first = fma(r, 0.166666672, 0.5);
    const float second = fma(r, 8.33331048e-3, 4.1666463e-2);
    const float third = fma(r, 1.9891269e-4, 1.39339e-3);
    const float p = fma(fma(fma(third, square, second), square, first), square, r) + 1.0;
    // The lowest bits of 1.5 * 2^23 + n are those of n.
    const uint value = floatBitsToUint(p) + (floatBitsToUint(n + 12582912.0) << 23);
    return x + low >= -87.3365402 ? uintBitsToFloat(value) : 0.0; // 126 ln 2
}

float tanh_of(float x) {
    const float a = min(abs(x), 10.0); // beyond, tanh is 1
    const float z = a * a;
    float p = -6.09671418e-3;
    p = fma(p, z, 2.09971797e-2);
    p = fma(p, z, -5.38509078e-2);
    p = fma(p, z, 0.133327693);
    p = fma(p, z, -0.333333284);
    const float small = fma(p, z * a, a);
    const float large = 1.0 - 2.0 / (exp_of_sum(2.0 * a, 0.0) + 1.0);
    const uint value = floatBitsToUint(a < 0.625 ? small : large);
    return keep_nan(x, uintBitsToFloat(value | (floatBitsToUint(x) & 0x80000000)));
}

// 1 / (1 + e^-x).
float sigmoid_of(float x) {
    const float e = exp_of_sum(-abs(x), 0.0); // never more than 1
    const float upper = 1.0 / (1.0 + e);
    return keep_nan(x, x >= 0.0 ? upper : e * upper);
}

// The normal distribution function: (1 + erf(x / sqrt 2)) / 2. The lower tail is computed directly, without cancellation.
float normal_of(float x) {
    const float a = min(abs(x), 15.0); // beyond, the tail is zero
    // The tail is e^(-a^2 / 2) P(q) / (a + 3), where P is a polynomial in q = (a - 3) / (a + 3).
    const float d = a + 3.0;
    float s = 1.0 / d;
    s = fma(fma(-d, s, 1.0), s, s); // a division is within 2.5 ulp; one Newton iteration makes that 1 ulp
    const float q = (a - 3.0) * s;
    float p = 5.54918734e-5;
    p = fma(p, q, 1.33323949e-4);
    p = fma(p, q, -2.44709314e-4);
    p = fma(p, q, -1.03447656e-3);
    p = fma(p, q, 1.02415727e-3);
    p = fma(p, q, 6.96992036e-3);
    p = fma(p, q, -1.04622887e-2);
    p = fma(p, q, -4.72627617e-2);
    p = fma(p, q, 0.230017677);
    p = fma(p, q, -0.509332001);
    p = fma(p, q, 0.729083717);
    // a^2 / 2 in two parts: the square of the upper 12 bits is exact, and the rest is small.
    const float upper = uintBitsToFloat(floatBitsToUint(a) & 0xfffff000);
    const float tail = exp_of_sum(-0.5 * upper * upper, -0.5 * (a - upper) * (a + upper)) * (p * s);
    return keep_nan(x, x >= 0.0 ? 1.0 - tail : tail);
}

// ln(1 + e^x).
float softplus_of(float x) {
    // ln(1 + e) = 2 artanh(s) = 2 s + 2/3 s^3 + .., with e = e^-|x| and s = e / (2 + e), at most a third.
    const float e = exp_of_sum(-abs(x), 0.0);
    const float s = e / (e + 2.0);
    const float square = s * s;
    float p = 0.232243285;
    p = fma(p, square, 0.217065766);
    p = fma(p, square, 0.28592357);
    p = fma(p, square, 0.399997056);
    p = fma(p, square, 0.666666687);
    return keep_nan(x, max(x, 0.0) + fma(p, s * square, 2.0 * s));
}

// e^x - 1 = 2 t / (1 - t) with t = tanh(x / 2), without cancellation, for x of at most 0; x above.
float elu_of(float x) {
    const float t = tanh_of(0.5 * min(x, 0.0));
    return keep_nan(x, x > 0.0 ? x : 2.0 * t / (1.0 - t));
}

// tanh(ln(1 + e^x)), the quotient of two polynomials in w = e^-|x|, without cancellation.
float mish_factor(float x) {
    const float w = exp_of_sum(-abs(x), 0.0);
    const float above = x >= 0.0 ? fma(2.0, w, 1.0) : w * (w + 2.0);
    return above / (above + (x >= 0.0 ? 2.0 * w * w : 2.0));
}

// The sigmoid of 1.702 x. 1.702 |x| is in two parts: the product of the upper 12 bits of both is exact, and the rest is small.
float quick_sigmoid(float x) {
    const float a = min(abs(x), 100.0); // beyond, the lower one is 0
    const float first = uintBitsToFloat(floatBitsToUint(a) & 0xfffff000);
    const float e = exp_of_sum(-1.7021484375 * first, fma(1.484375e-4, a, -1.7021484375 * (a - first)));
    const float upper = 1.0 / (1.0 + e);
    return x >= 0.0 ? upper : e * upper;
}

float activate(float x) {
    const float from = max(x, -200.0); // the limit at minus infinity is 0
    switch (ACTIVATION) {
        // Compared as integers: from -0 down to minus infinity; NaNs with a sign are greater ones.
        case RELU: return floatBitsToInt(x) <= -0x800000 ? 0.0 : x;
        case GELU: return from * normal_of(x);
        case GELU_TANH: {
            // Beyond 20 the sigmoid is 0 or 1, and the cube may overflow.
            const float w = clamp(x, -20.0, 20.0);
            return keep_nan(x, from * sigmoid_of(w * fma(w * w, 0.0713548163, 1.59576912)));
        }
        case SILU: return from * sigmoid_of(x);
        case SIGMOID: return sigmoid_of(x);
        case TANH: return tanh_of(x);
        case SOFTPLUS: return softplus_of(x);
        case ELU: return elu_of(x);
        case LEAKY_RELU: return floatBitsToInt(x) > 0 ? x : 0.01 * x;
        case MISH: return keep_nan(x, from * mish_factor(x));
        case HARDSWISH: {
            const float factor = clamp(x + 3.0, 0.0, 6.0) * 0.166666672;
            return keep_nan(x, x >= 3.0 ? x : max(x, -3.0) * factor);
        }
        case QUICK_GELU: return keep_nan(x, from * quick_sigmoid(x));
        default: return x;
    }
}
