// Results as C stores them, rounded to the nearest, of two to the even one, on bits as in common/pack_pair.wgsl and
// gemm/requantised.wgsl: compilers differ in how they convert.

// The bits of an f16. From 65520 on it is infinity; NaN stays NaN.
uint f16_bits(float x) {
    const uint magnitude = floatBitsToUint(x) & 0x7fffffff;
    const uint sign = (floatBitsToUint(x) >> 16) & 0x8000;
    if (magnitude >= 0x477ff000) {
        return sign | (magnitude > 0x7f800000 ? 0x7e00 : 0x7c00);
    }
    // The power of two below, at least 2^-14: from there on f16 are subnormal. Their unit is 2^10 times less.
    const uint power = max(magnitude & 0x7f800000, 0x38800000);
    const uint units = uint(roundEven(uintBitsToFloat(magnitude) * uintBitsToFloat(0x84000000 - power)));
    // 2^10 units are one step of the exponent, so a carry goes there.
    return sign | (((power - 0x38800000) >> 13) + units);
}

// The bits of a bf16, the upper half of an f32.
uint bf16_bits(float x) {
    const uint bits = floatBitsToUint(x);
    const uint nearest = bits + 0x7fff + ((bits >> 16) & 1);
    return ((bits & 0x7fffffff) > 0x7f800000 ? bits | 0x400000 : nearest) >> 16;
}

// A positive finite number as its significand, with the leading bit 23, and the exponent field that goes with it, which is 0 or less for
// subnormal numbers.
uvec2 number_of(uint magnitude) {
    const uint fraction = magnitude & 0x7fffff;
    if (magnitude >= 0x800000) {
        return uvec2(fraction | 0x800000, magnitude >> 23);
    }
    const uint up = 23 - uint(findMSB(max(fraction, 1)));
    return uvec2(fraction << up, 1 - up);
}

// The byte of the whole number of -128 to 127 that is nearest to the exact quotient of x and the number with these bits. NaN becomes 0.
uint i8_bits(float x, uint divisor_bits) {
    const uint magnitude = floatBitsToUint(x) & 0x7fffffff;
    const bool is_negative = floatBitsToUint(x) > 0x7fffffff;
    const uvec2 value = number_of(magnitude);
    const uvec2 divisor = number_of(divisor_bits);
    const int exponent = int(value.y) - int(divisor.y);
    // The significands' quotient is between 1/2 and 2. So the quotient is below 1/2 where the exponent is below -1, and above 128 from 8 on.
    if (magnitude == 0 || magnitude > 0x7f800000 || exponent < -1) {
        return 0;
    }
    uint nearest = 128;
    if (magnitude < 0x7f800000 && exponent < 8) {
        const uint dividend = value.x << uint(exponent + 1);
        const uint halves = dividend / divisor.x;
        const bool has_more = dividend % divisor.x != 0;
        // An odd number of halves is in the middle, or above it if there is more.
        const bool is_up = (halves & 1) == 1 && (has_more || (halves & 2) == 2);
        nearest = (halves >> 1) + (is_up ? 1 : 0);
    }
    const uint limited = min(nearest, is_negative ? 128 : 127);
    return (is_negative ? uint(-int(limited)) : limited) & 0xff;
}
