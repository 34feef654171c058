// The exponential and the logarithm, to which GLSL promises too little accuracy.

// e^x for x of at most 0, within 8 ulp, as in common/math.wgsl; 0 where it is below the smallest normal number. NaN stays NaN. It is tested by its bits,
// because compilers may assume that no number is NaN.
float exp_of_negative(float x) {
    const float inside = max(x, -88.0);
    const float n = round(inside * 1.44269504);
    // Cody and Waite: ln 2 in two parts.
    const float r = fma(n, 2.12194440e-4, fma(n, -0.693359375, inside));
    const float square = r * r;
    const float first = fma(r, 0.166666672, 0.5);
    const float second = fma(r, 8.33331048e-3, 4.1666463e-2);
    const float third = fma(r, 1.9891269e-4, 1.39339e-3);
    const float p = fma(fma(fma(third, square, second), square, first), square, r) + 1.0;
    // The lowest bits of 1.5 * 2^23 + n are those of n.
    const uint value = floatBitsToUint(p) + (floatBitsToUint(n + 12582912.0) << 23);
    const uint magnitude = floatBitsToUint(x) & 0x7fffffff;
    if (magnitude > 0x7f800000) {
        return x;
    }
    return magnitude > 0x42aeac4f ? 0.0 : uintBitsToFloat(value); // below -126 ln 2
}

// ln x of a finite x of at least 1, within 8 ulp.
float log_of(float x) {
    const uint bits = floatBitsToUint(x);
    // x = 2^e z with z between the roots of 1/2 and 2: ln z = 2 artanh(s) = 2 s + 2/3 s^3 + 2/5 s^5 + ..
    const uint adjusted = bits - 0x3f3504f3;
    const float e = float(int(adjusted) >> 23);
    const float z = uintBitsToFloat((adjusted & 0x7fffff) + 0x3f3504f3);
    const float s = (z - 1.0) / (z + 1.0);
    const float square = s * s;
    const float p = fma(fma(fma(0.222222222, square, 0.285714286), square, 0.4), square, 0.666666667);
    const float value = fma(e, 0.693359375, fma(e, -2.12194440e-4, 2.0 * s + p * square * s));
    return (bits & 0x7fffffff) >= 0x7f800000 ? x : value;
}
