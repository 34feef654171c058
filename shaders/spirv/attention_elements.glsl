// Elements of attention's operands and matrices: f16 or bf16 by OF_F16.

#include "number.glsl"

// Zero in place of elements that are not finite; `found` is set if there were any.
uvec4 only_finite(uvec4 unit, inout bool found) {
#ifdef OF_F16
    const uint exponent = 0x7c00;
#else
    const uint exponent = 0x7f80;
#endif
    [[unroll]] for (uint w = 0; w < 4; w++) {
        [[unroll]] for (uint e = 0; e < 2; e++) {
            const uint mask = 0xffffu << (e * 16);
            if (((unit[w] >> (e * 16)) & exponent) == exponent) {
                found = true;
                unit[w] &= ~mask;
            }
        }
    }
    return unit;
}

// The larger one. If one is NaN, either: its weight makes the row's sum NaN.
float larger(const in float x, const in float y) {
    return max(x, y);
}

float first_of(const in float x, const in float y) {
    return x;
}

float product(const in uint row, const in uint col, const in float x, const in float factor) {
    return x * factor;
}
